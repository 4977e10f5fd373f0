// SPDX-License-Identifier: Apache-2.0
// stub.js — what the extension uses of VS Code and of its language client, as far as tests need it.
"use strict";

const Module = require("module");

// Loads the extension with a stub of VS Code. `configuration` has the settings by their short names.
function load(configuration = {}) {
  const seen = {
    clients: [], commands: new Map(), editors: new Map(), messages: [], output: "", panels: [],
    terminals: [], saved: [], changed: [], documents: [], failStart: undefined,
  };
  const disposable = { dispose() {} };
  const event = () => disposable;
  const panel = () => {
    const closed = [];
    return {
      webview: { html: "", options: {} },
      revealed: 0,
      reveal() { this.revealed += 1; },
      onDidDispose: (action) => closed.push(action),
      close: () => closed.forEach((action) => action()),
    };
  };
  const vscode = {
    ViewColumn: { Beside: -2 },
    RelativePattern: class {},
    Uri: { file: (name) => ({ scheme: "file", fsPath: name }) },
    commands: {
      registerCommand: (name, action) => { seen.commands.set(name, action); return disposable; },
      executeCommand: async (name) => { seen.messages.push(`executed ${name}`); },
    },
    window: {
      activeTextEditor: undefined,
      createOutputChannel: () => ({
        append: (text) => { seen.output += text; },
        appendLine: (text) => { seen.output += `${text}\n`; },
        show() {}, dispose() {},
      }),
      createTerminal: (options) => { seen.terminals.push(options); return { show() {} }; },
      createWebviewPanel: () => { const made = panel(); seen.panels.push(made); return made; },
      registerCustomEditorProvider: (type, provider) => {
        seen.editors.set(type, provider);
        return disposable;
      },
      showErrorMessage: (text) => seen.messages.push(text),
      showInformationMessage: (text) => seen.messages.push(text),
      showWarningMessage: (text) => seen.messages.push(text),
    },
    workspace: {
      textDocuments: seen.documents,
      createFileSystemWatcher: () => ({
        onDidChange: (action) => seen.changed.push(action), dispose() {},
      }),
      getConfiguration: () => ({
        get: (name, fallback) => (name in configuration ? configuration[name] : fallback),
      }),
      onDidChangeConfiguration: (action) => { seen.configured = action; return disposable; },
      onDidSaveTextDocument: (action) => { seen.saved.push(action); return disposable; },
    },
    event,
  };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { server, options, running: false });
      seen.clients.push(this);
    }

    async start() {
      if (seen.failStart) throw seen.failStart;
      this.running = true;
    }

    async stop() { this.running = false; }
  }
  const stubs = {
    vscode, "vscode-languageclient/node": { LanguageClient, TransportKind: { stdio: 0 } },
  };
  const real = Module._load;
  Module._load = (name, ...rest) => stubs[name] || real(name, ...rest);
  try {
    for (const file of ["extension", "viewer", "program"]) {
      delete require.cache[require.resolve(`../src/${file}`)];
    }
    const extension = require("../src/extension");
    return { extension, panel, seen, vscode };
  } finally {
    Module._load = real;
  }
}

module.exports = { load };
