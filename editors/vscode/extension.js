"use strict";

// The extension starts `thence lsp` and connects the editor to it. Everything else is the server's.

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const DEFAULT = ["thence", "lsp"];
const EXPLANATION = "thence-explanation";

let client;

/** Explanations of codes, each a text that can be read beside the file. */
const explanations = {
  texts: new Map(),
  provideTextDocumentContent: (uri) => explanations.texts.get(uri.path) ?? "",
  async show(code, text) {
    explanations.texts.set(code, text);
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(`${EXPLANATION}:${code}`));
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  },
};

/** How the server is started: as the settings say; by default from the `.venv` of a folder that has one with Thence. */
function serverCommand() {
  const settings = vscode.workspace.getConfiguration("thence");
  const command = settings.get("command");
  if (!Array.isArray(command) || command.length === 0) return DEFAULT;
  if (command[0] !== "thence") return command;
  const places = process.platform === "win32" ? [".venv", "Scripts", "thence.exe"] : [".venv", "bin", "thence"];
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const found = path.join(folder.uri.fsPath, ...places);
    if (fs.existsSync(found)) return [found, ...command.slice(1)];
  }
  return command;
}

async function start() {
  const [command, ...args] = serverCommand();
  const settings = vscode.workspace.getConfiguration("thence");
  client = new LanguageClient(
    "thence",
    "Thence",
    { command, args },
    {
      documentSelector: [{ language: "thence" }],
      initializationOptions: {
        seconds: settings.get("seconds"),
        memoryMegabytes: settings.get("memoryMegabytes"),
        showsExplanations: true,
      },
      middleware: {
        // A lens with verdicts was clicked: the server writes them to the output, which is shown. An explanation is
        // opened beside the file.
        executeCommand: async (name, given, next) => {
          const said = await next(name, given);
          if (name === "thence.show") client.outputChannel.show(true);
          if (name === "thence.explain" && said) await explanations.show(given[0], said);
          return said;
        },
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const again = "Open the settings";
    const chosen = await vscode.window.showErrorMessage(
      `The language server could not be started (${command} ${args.join(" ")}): ${error.message ?? error}. ` +
        "Install it by pip install 'thence[editor]', or say in the setting thence.command where it is.",
      again,
    );
    if (chosen === again) await vscode.commands.executeCommand("workbench.action.openSettings", "thence.command");
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined && running.needsStop()) await running.stop();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(EXPLANATION, explanations),
    vscode.commands.registerCommand("thence.restart", async () => {
      await stop();
      await start();
    }),
    vscode.commands.registerCommand("thence.output", () => client?.outputChannel.show(true)),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
