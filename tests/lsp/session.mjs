// A session by the client library of Visual Studio Code: `node session.mjs EXTENSION COMMAND...`. It loads the extension
// into an editor of straw, whose language client is the protocol library of the real one, and writes what came back.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import Module from "node:module";
import path from "node:path";

const [extension, ...command] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(extension), "package.json"));
const protocol = require("vscode-languageserver-protocol/node");

const uri = "file:///nowhere/straw.thence";
const text = "# 😀\nprotocol p:\n  on causal_send(m): send NONE(m) to m.dst\n";
const told = { commands: [], shown: [], opened: [] };

class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(told, { id, server, options: options.initializationOptions });
    this.server = server;
    this.middleware = options.middleware;
  }

  get outputChannel() {
    return { show: () => told.shown.push("output") };
  }

  async start() {
    this.process = spawn(this.server.command, this.server.args, { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.process.on("exit", resolve));
    this.connection = protocol.createProtocolConnection(
      new protocol.StreamMessageReader(this.process.stdout),
      new protocol.StreamMessageWriter(this.process.stdin),
    );
    this.connection.listen();
    const published = new Promise((resolve) =>
      this.connection.onNotification(protocol.PublishDiagnosticsNotification.type, resolve),
    );
    const { capabilities } = await this.connection.sendRequest(protocol.InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      capabilities: {},
      initializationOptions: told.options,
    });
    told.capabilities = Object.keys(capabilities).sort();
    told.commands = capabilities.executeCommandProvider.commands.sort();
    await this.connection.sendNotification(protocol.InitializedNotification.type, {});
    const document = { uri, languageId: "thence", version: 1, text };
    await this.connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, { textDocument: document });
    told.diagnostics = (await published).diagnostics.map(({ code, range }) => [code, range.start]);
    const position = { line: 2, character: 28 };
    const hover = await this.connection.sendRequest(protocol.HoverRequest.type, { textDocument: { uri }, position: { line: 2, character: 6 } });
    told.hover = hover.contents.value;
    const [action] = await this.connection.sendRequest(protocol.CodeActionRequest.type, {
      textDocument: { uri },
      range: { start: { line: 2, character: 0 }, end: { line: 2, character: 0 } },
      context: { diagnostics: [] },
    });
    await this.middleware.executeCommand(action.command.command, action.command.arguments, (command, given) =>
      this.connection.sendRequest(protocol.ExecuteCommandRequest.type, { command, arguments: given }),
    );
    try {
      await this.connection.sendRequest(protocol.RenameRequest.type, { textDocument: { uri }, position, newName: "if" });
    } catch (error) {
      told.refused = [error.code, error.message];
    }
  }

  needsStop() {
    return true;
  }

  async stop() {
    await this.connection.sendRequest(protocol.ShutdownRequest.type);
    await this.connection.sendNotification(protocol.ExitNotification.type);
    told.exit = await this.ended;
  }
}

const settings = { command, seconds: 7, memoryMegabytes: 100 };
const straw = {
  Uri: { parse: (text) => ({ scheme: text.split(":")[0], path: text.split(":")[1] }) },
  ViewColumn: { Beside: -2 },
  workspace: {
    getConfiguration: () => ({ get: (name) => settings[name] }),
    workspaceFolders: [],
    registerTextDocumentContentProvider: (scheme, provider) => ({ scheme, provider }),
    openTextDocument: async (uri) => {
      const { provider } = context.subscriptions.find(({ scheme }) => scheme === uri.scheme);
      return { text: provider.provideTextDocumentContent(uri), name: uri.path };
    },
  },
  window: {
    showErrorMessage: async (message) => void told.shown.push(message),
    showTextDocument: async (document) => void told.opened.push([document.name, document.text]),
  },
  commands: { registerCommand: (name) => ({ name }), executeCommand: async () => {} },
};
const load = Module._load;
Module._load = (request, ...rest) => {
  if (request === "vscode") return straw;
  if (request === "vscode-languageclient/node") return { LanguageClient };
  return load(request, ...rest);
};

const { activate, deactivate } = require("./extension.js");
const context = { subscriptions: [] };
await activate(context);
told.registered = context.subscriptions.map(({ name }) => name).filter(Boolean);
await deactivate();
process.stdout.write(JSON.stringify(told));
