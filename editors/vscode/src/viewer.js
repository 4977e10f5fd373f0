// SPDX-License-Identifier: Apache-2.0
// viewer.js — models as pages: beside the text, and in place of files that are not text.
"use strict";

const path = require("path");
const vscode = require("vscode");

const program = require("./program");

function settings() {
  const values = vscode.workspace.getConfiguration("lemma");
  return {
    path: values.get("path", "lemma"),
    serverArguments: values.get("serverArguments", []),
    runArguments: values.get("runArguments", []),
    viewArguments: values.get("viewArguments", []),
  };
}

// Fills a panel with the page of a model, or with the reason why there is none.
async function fill(webview, file) {
  const { path: lemma, viewArguments } = settings();
  webview.options = { enableScripts: true, localResourceRoots: [] };
  webview.html = program.messagePage(path.basename(file), "Reading the model …");
  try {
    webview.html = await program.viewPage(lemma, program.modelOf(file), viewArguments);
  } catch (error) {
    webview.html = program.messagePage(`${path.basename(file)} cannot be shown`, error.message);
  }
}

// Pages beside texts, one per file. A page is made anew when its text is saved.
class Previews {
  constructor() {
    this.panels = new Map();
  }

  async show(file) {
    const open = this.panels.get(file);
    if (open) {
      open.reveal(vscode.ViewColumn.Beside, true);
      return fill(open.webview, file);
    }
    const panel = vscode.window.createWebviewPanel(
      "lemma.preview",
      `View ${path.basename(file)}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [] });
    this.panels.set(file, panel);
    panel.onDidDispose(() => this.panels.delete(file));
    return fill(panel.webview, file);
  }

  // A saved file may be a module of another model in the same folder.
  async saved(file) {
    const folder = path.dirname(file);
    const models = [...this.panels].filter(([model]) => path.dirname(model) === folder);
    await Promise.all(models.map(([model, panel]) => fill(panel.webview, model)));
  }
}

// ONNX files, read-only.
class ModelEditor {
  openCustomDocument(uri) {
    return { uri, dispose() {} };
  }

  async resolveCustomEditor(document, panel) {
    const file = document.uri.fsPath;
    const pattern = new vscode.RelativePattern(
      vscode.Uri.file(path.dirname(file)), path.basename(file));
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    watcher.onDidChange(() => fill(panel.webview, file));
    panel.onDidDispose(() => watcher.dispose());
    await fill(panel.webview, file);
  }
}

module.exports = { ModelEditor, Previews, fill, settings };
