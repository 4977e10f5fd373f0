// SPDX-License-Identifier: Apache-2.0
// A session with the language server through vscode-jsonrpc and vscode-languageserver-protocol, as
// Visual Studio Code has it.
"use strict";
const childProcess = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const url = require("url");
const rpc = require("vscode-jsonrpc/node");
const lsp = require("vscode-languageserver-protocol");

const kCapabilities = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    completion: { completionItem: { snippetSupport: true } },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    publishDiagnostics: { relatedInformation: true, versionSupport: true },
  },
  workspace: {
    workspaceEdit: { documentChanges: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
    workspaceFolders: true,
  },
};

class Session {
  constructor(lemma, roots, cache) {
    this.server = childProcess.spawn(lemma, ["lsp", "--stdio"], {
      stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, XDG_CACHE_HOME: cache } });
    this.exited = new Promise((resolve) => this.server.on("exit", resolve));
    this.connection = rpc.createMessageConnection(
      new rpc.StreamMessageReader(this.server.stdout),
      new rpc.StreamMessageWriter(this.server.stdin));
    this.diagnostics = new Map();
    this.waiting = [];
    this.texts = new Map();
    this.registrations = [];
    this.connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => {
      this.diagnostics.set(params.uri, params);
      this.waiting = this.waiting.filter((wait) => !wait());
    });
    this.connection.onRequest(lsp.RegistrationRequest.type, (params) => {
      this.registrations.push(...params.registrations);
    });
    this.connection.listen();
    this.roots = roots;
  }

  async start() {
    const folders = this.roots.map((root) => ({ uri: url.pathToFileURL(root).href, name: root }));
    const result = await this.connection.sendRequest(lsp.InitializeRequest.type, {
      processId: process.pid, rootUri: null, capabilities: kCapabilities,
      workspaceFolders: folders });
    await this.connection.sendNotification(lsp.InitializedNotification.type, {});
    return result;
  }

  open(file, text) {
    const uri = file.startsWith("/") ? url.pathToFileURL(file).href : file;
    if (text === undefined) text = fs.readFileSync(file, "utf8");
    this.texts.set(uri, { text, version: 1 });
    this.connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: uri.endsWith(".nnef") ? "nnef" : "skriptnd", version: 1, text } });
    return uri;
  }

  // Replaces the whole text.
  set(uri, text) {
    const document = this.texts.get(uri);
    document.text = text;
    document.version += 1;
    this.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version: document.version }, contentChanges: [{ text }] });
    return document.version;
  }

  // Replaces the first `old`, as an edit with a range.
  edit(uri, old, text) {
    const document = this.texts.get(uri);
    const begin = document.text.indexOf(old);
    if (begin < 0) throw new Error(`no \`${old}\``);
    const range = { start: this.at(uri, old), end: this.position(uri, begin + old.length) };
    document.text = document.text.slice(0, begin) + text + document.text.slice(begin + old.length);
    document.version += 1;
    this.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version: document.version }, contentChanges: [{ range, text }] });
    return document.version;
  }

  close(uri) {
    this.texts.delete(uri);
    this.connection.sendNotification(lsp.DidCloseTextDocumentNotification.type, {
      textDocument: { uri } });
  }

  position(uri, offset) {
    const before = this.texts.get(uri).text.slice(0, offset);
    const line = before.split("\n").length - 1;
    return { line, character: offset - (before.lastIndexOf("\n") + 1) };
  }

  // The place of the text at `|` in a pattern such as `nn.re|lu`, or of its beginning.
  at(uri, pattern) {
    const bar = pattern.indexOf("|");
    const plain = bar < 0 ? pattern : pattern.slice(0, bar) + pattern.slice(bar + 1);
    const begin = this.texts.get(uri).text.indexOf(plain);
    if (begin < 0) throw new Error(`no \`${plain}\``);
    return this.position(uri, begin + Math.max(bar, 0));
  }

  request(type, uri, pattern, more = {}) {
    const params = { textDocument: { uri }, ...more };
    if (pattern) params.position = this.at(uri, pattern);
    return this.connection.sendRequest(type, params);
  }

  // The text of a range of a document.
  slice(uri, range) {
    const text = this.texts.has(uri) ? this.texts.get(uri).text
      : fs.readFileSync(url.fileURLToPath(uri), "utf8");
    const lines = text.split("\n");
    const offset = (p) => lines.slice(0, p.line).reduce((n, l) => n + l.length + 1, 0) + p.character;
    return text.slice(offset(range.start), offset(range.end));
  }

  // The text after the edits.
  applied(uri, edits) {
    const text = this.texts.get(uri).text;
    const lines = text.split("\n");
    const offset = (p) => p.line >= lines.length ? text.length
      : lines.slice(0, p.line).reduce((n, l) => n + l.length + 1, 0) + p.character;
    const sorted = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
    let result = text;
    for (const edit of sorted)
      result = result.slice(0, offset(edit.range.start)) + edit.newText + result.slice(offset(edit.range.end));
    return result;
  }

  // Diagnostics of this version, or with `test` those that satisfy it.
  waitDiagnostics(uri, version, test = () => true) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no diagnostics for ${uri}`)), 20000);
      const wait = () => {
        const found = this.diagnostics.get(uri);
        if (!found || (version !== null && found.version !== version) || !test(found.diagnostics))
          return false;
        clearTimeout(timer);
        resolve(found.diagnostics);
        return true;
      };
      if (!wait()) this.waiting.push(wait);
    });
  }

  async end() {
    await this.connection.sendRequest(lsp.ShutdownRequest.type);
    await this.connection.sendNotification(lsp.ExitNotification.type);
    const status = await this.exited;
    this.connection.dispose();
    return status;
  }
}

// A folder with these files.
function makeFolder(files) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "lemma-lsp-")));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

module.exports = { Session, makeFolder, lsp };
