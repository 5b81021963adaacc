// Where answers come from: a server on this machine, an interpreter in the browser, or what is kept in the page.

/** @typedef {{onProgress?: (progress: any) => void, signal?: AbortSignal}} Manner */
/** @typedef {{searches: boolean, edits: boolean, ask: (method: string, asked: any, manner?: Manner) => Promise<any>}} Answers */

export class Failed extends Error {
  /** @param {string} kind @param {string} message */
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

function checked(answer) {
  if (answer && answer.error) throw new Failed(answer.error.kind, answer.error.message);
  return answer;
}

/** The server that gave the page. */
export class ServerAnswers {
  constructor() {
    this.searches = true;
    this.edits = true;
    this.proves = true;
  }

  async ask(method, asked, manner = {}) {
    let response;
    try {
      response = await fetch("ask", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ method, asked }), signal: manner.signal,
      });
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw new Failed("Stopped", "stopped");
      throw new Failed("Away", "thence play has ended: start it again, and open the address that it prints");
    }
    if (!response.ok) throw new Failed("Refused", `the server says ${response.status}`);
    if (!(response.headers.get("Content-Type") ?? "").startsWith("application/x-ndjson")) return checked(await response.json());
    return checked(await this.streamed(response, manner));
  }

  async streamed(response, manner) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          if (!line) continue;
          const told = JSON.parse(line);
          if (told.answer) return told.answer;
          if (told.progress) manner.onProgress?.(told.progress);
        }
      }
    } catch (error) {
      if (manner.signal?.aborted) throw new Failed("Stopped", "stopped");
      throw error;
    }
    throw new Failed("Ended", "the search ended without an answer");
  }
}

/** Of a recording: what the findings up to an event say of the properties that the oracle judges. */
export function judgedByFindings(kept, at) {
  if (!kept.properties) return null;
  const found = kept.run.steps.slice(0, at).flatMap((step, number) => (step.violations ?? []).map((each) => ({ ...each, step: number + 1 })));
  const names = [...new Set([...kept.properties, ...found.map((each) => each.property)])];
  const answers = names.map((property) => {
    const first = found.find((each) => each.property === property);
    return { property, standing: first ? "violated" : "not violated", step: first?.step ?? null, why: first?.text ?? "", here: null, claimed: true, witness: false, line: null, reason: null };
  });
  return { at, answers, recorded: true };
}

/** What was put into the page: one run, and what the properties say of each of its states. */
export class KeptAnswers {
  /** @param {any} kept */
  constructor(kept) {
    this.kept = kept;
    this.searches = false;
    this.edits = false;
  }

  async ask(method, asked) {
    const kept = this.kept;
    switch (method) {
      case "about":
        return { rules: kept.rules, library: [], files: [kept.name] };
      case "open":
        return { name: kept.name, text: kept.text };
      case "load":
        return { spec: "kept", diagnostics: [], summary: kept.summary };
      case "start":
        return { ...kept.run, session: "kept" };
      case "judge": {
        const found = kept.judged[asked.at] ?? judgedByFindings(kept, asked.at);
        if (!found) throw new Failed("Kept", "what the properties say here is not kept in this file");
        return found;
      }
      default:
        throw new Failed("Kept", `this file has one run; the player that was asked for more is: ${kept.command}`);
    }
  }
}

/** Nobody: browsers start no worker for a page from the disk. */
export class NoAnswers {
  constructor() {
    this.searches = false;
    this.edits = false;
  }

  async ask() {
    throw new Failed("Away", "From the disk a browser starts no interpreter. Run python3 -m http.server in the folder of the site, and open the address that it prints; or run thence play FILE");
  }
}

/** The interpreter of Python in this browser, in a worker. It is started anew where a search is stopped. */
export class WorkerAnswers {
  /** @param {string} address of the worker's script @param {(text: string) => void} say */
  constructor(address, say) {
    this.address = address;
    this.say = say;
    this.searches = true;
    this.edits = true;
    this.open = new Map();
    this.count = 0;
    this.begin();
  }

  begin() {
    this.worker = new Worker(this.address, { type: "module" });
    this.worker.onmessage = ({ data }) => this.told(data);
    this.worker.onerror = (event) => this.broken(event.message || "the interpreter could not be started");
  }

  told(data) {
    if (data.say !== undefined) return this.say(data.say);
    const waiting = this.open.get(data.id);
    if (!waiting) return undefined;
    if (data.progress) return waiting.onProgress?.(data.progress);
    this.open.delete(data.id);
    return data.failed ? waiting.reject(new Failed("Broken", data.failed)) : waiting.resolve(data.answer);
  }

  broken(message) {
    for (const waiting of this.open.values()) waiting.reject(new Failed("Broken", message));
    this.open.clear();
  }

  async ask(method, asked, manner = {}) {
    const id = (this.count += 1);
    const answer = new Promise((resolve, reject) => this.open.set(id, { resolve, reject, onProgress: manner.onProgress }));
    const stop = () => {
      this.worker.terminate();
      this.broken("stopped");
      this.begin();
    };
    manner.signal?.addEventListener("abort", stop);
    this.worker.postMessage({ id, method, asked });
    try {
      return checked(await answer);
    } finally {
      manner.signal?.removeEventListener("abort", stop);
    }
  }
}
