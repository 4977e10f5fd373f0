// SPDX-License-Identifier: Apache-2.0
// extension.js — starts the language server and registers the commands.
"use strict";

const path = require("path");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

const program = require("./program");
const { ModelEditor, Previews, settings } = require("./viewer");

let client;
let output;

function createClient() {
  const { path: lemma, serverArguments } = settings();
  const executable = {
    command: lemma,
    args: ["lsp", ...serverArguments],
    transport: TransportKind.stdio,
  };
  return new LanguageClient("lemma", "Lemma", executable, {
    documentSelector: [{ language: "sknd" }, { language: "nnef" }],
    outputChannel: output,
    synchronize: {
      fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{sknd,nnef,dat}"),
    },
  });
}

async function startClient() {
  client = createClient();
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const cause = error && error.code ? program.startFailure(settings().path, error)
      : `The language server "${settings().path} lsp" does not start: ${error.message || error}`;
    vscode.window.showWarningMessage(cause);
  }
}

async function stopClient() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

// The file of a command: from the menu that called it, or the one in the editor.
function fileOf(uri) {
  const chosen = uri || (vscode.window.activeTextEditor || { document: {} }).document.uri;
  if (!chosen || chosen.scheme !== "file") {
    vscode.window.showInformationMessage("Open a .sknd, .nnef or .onnx file first.");
    return undefined;
  }
  return chosen.fsPath;
}

// Saves unsaved texts of the model, so that the program reads what the editor shows.
async function saveAround(file) {
  const folder = path.dirname(file);
  const open = vscode.workspace.textDocuments.filter(
    (document) => document.isDirty && document.uri.scheme === "file" &&
      document.uri.fsPath.startsWith(folder + path.sep));
  await Promise.all(open.map((document) => document.save()));
}

// Runs `lemma COMMAND MODEL ARGUMENTS` and shows what it prints.
async function runAndShow(command, uri, extra) {
  const file = fileOf(uri);
  if (!file) return;
  await saveAround(file);
  const model = program.modelOf(file);
  const args = [command, model, ...extra];
  output.appendLine(`> lemma ${args.join(" ")}`);
  try {
    const ended = await program.run(settings().path, args, { cwd: path.dirname(file) });
    output.append(ended.out + ended.err);
    output.appendLine(ended.status === 0 ? "" : `ends with status ${ended.status}\n`);
    output.show(true);
  } catch (error) {
    vscode.window.showErrorMessage(error.message);
  }
}

async function formatFile() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !["sknd", "nnef"].includes(editor.document.languageId)) {
    vscode.window.showInformationMessage("Open a .sknd or .nnef file first.");
    return;
  }
  await vscode.commands.executeCommand("editor.action.formatDocument");
}

// `lemma view` serves the page until it is stopped, so it has a terminal of its own.
function viewInBrowser(uri) {
  const file = fileOf(uri);
  if (!file) return;
  const { path: lemma, viewArguments } = settings();
  const terminal = vscode.window.createTerminal({
    name: `View ${path.basename(file)}`,
    shellPath: lemma,
    shellArgs: ["view", program.modelOf(file), ...viewArguments],
    cwd: path.dirname(file),
  });
  terminal.show(true);
}

async function activate(context) {
  output = vscode.window.createOutputChannel("Lemma");
  const previews = new Previews();
  const commands = {
    "lemma.check": (uri) => runAndShow("check", uri, ["-v"]),
    "lemma.format": formatFile,
    "lemma.run": (uri) => runAndShow("run", uri, settings().runArguments),
    "lemma.view": async (uri) => {
      const file = fileOf(uri);
      if (file) await saveAround(file);
      if (file) await previews.show(file);
    },
    "lemma.viewInBrowser": viewInBrowser,
    "lemma.restart": async () => {
      await stopClient();
      await startClient();
    },
  };
  for (const [name, action] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, action));
  }
  context.subscriptions.push(
    output,
    vscode.window.registerCustomEditorProvider("lemma.model", new ModelEditor(), {
      webviewOptions: { retainContextWhenHidden: true },
      supportsMultipleEditorsPerDocument: true,
    }),
    vscode.workspace.onDidSaveTextDocument((document) => previews.saved(document.uri.fsPath)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("lemma.path") ||
          event.affectsConfiguration("lemma.serverArguments")) {
        await stopClient();
        await startClient();
      }
    }));
  await startClient();
}

async function deactivate() {
  await stopClient();
}

module.exports = { activate, deactivate };
