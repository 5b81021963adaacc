// The scopes of texts by the tokenizer of Visual Studio Code: `node scopes.mjs GRAMMAR MODULES FILE...` writes, for each
// file, a list of lines, each a list of [start, end, scope].

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

const [grammarFile, modules, ...files] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "package.json"));
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const wasm = await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(await readFile(grammarFile, "utf8"), grammarFile),
});
const grammar = await registry.loadGrammar("source.thence");

const found = {};
for (const file of files) {
  let state = textmate.INITIAL;
  found[file] = (await readFile(file, "utf8")).split("\n").map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.map(({ startIndex, endIndex, scopes }) => [startIndex, endIndex, scopes.at(-1)]);
  });
}
process.stdout.write(JSON.stringify(found));
