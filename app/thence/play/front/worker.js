// The interpreter of Python in a worker of the browser, which answers as the server does. It is no part of the page.
// @ts-ignore: the module comes from its package when the site is made
import { loadPyodide } from "./pyodide.mjs";

const ANSWER = `
import json
from thence.play.backend.backend import Backend

_backend = Backend(engine="interpreted")

def answer(method, asked, tell):
    return json.dumps(_backend.call(method, json.loads(asked), lambda progress: tell(json.dumps(dict(progress)))))

answer
`;

async function begin() {
  postMessage({ say: "Python is being started in this browser …" });
  const [python, program] = await Promise.all([
    loadPyodide({ indexURL: new URL("./", self.location.href).href }),
    fetch("thence.zip").then((response) => response.arrayBuffer()),
  ]);
  python.unpackArchive(program, "zip", { extractDir: "/lib/thence" });
  python.runPython("import sys; sys.path.insert(0, '/lib/thence')");
  const answer = python.runPython(ANSWER);
  postMessage({ say: "" });
  return answer;
}

const begun = begin();

self.onmessage = async ({ data: { id, method, asked } }) => {
  try {
    const answer = await begun;
    const tell = (progress) => postMessage({ id, progress: JSON.parse(progress) });
    postMessage({ id, answer: JSON.parse(answer(method, JSON.stringify(asked), tell)) });
  } catch (error) {
    const message = String(error instanceof Error ? error.message : error);
    postMessage({ id, failed: message.trim().split("\n").pop() ?? message });
  }
};
