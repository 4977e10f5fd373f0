// SPDX-License-Identifier: Apache-2.0
// program.js — calls of the program `lemma`. Knows nothing of VS Code, so that tests can use it.
"use strict";

const childProcess = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const MAX_OUTPUT = 256 * 1024 * 1024;

// The model that a file belongs to: its folder if it is the main file of one, otherwise the file.
function modelOf(file) {
  const name = path.basename(file);
  return name === "main.sknd" || name === "graph.nnef" ? path.dirname(file) : file;
}

// What to tell a user whose program cannot be started.
function startFailure(program, error) {
  if (error.code === "ENOENT") {
    return `There is no program "${program}". Install Lemma, or set "lemma.path" to the program.`;
  }
  if (error.code === "EACCES") {
    return `"${program}" cannot be executed. Set "lemma.path" to the program.`;
  }
  return `"${program}" does not start: ${error.message}`;
}

// Runs the program. Ends with {status, out, err}; fails only if the program does not start.
function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const settings = { cwd: options.cwd, maxBuffer: MAX_OUTPUT, encoding: "utf8" };
    const child = childProcess.execFile(program, args, settings, (error, out, err) => {
      if (error && typeof error.code !== "number") {
        reject(new Error(startFailure(program, error)));
      } else {
        resolve({ status: error ? error.code : 0, out, err });
      }
    });
    child.stdin.on("error", () => {});  // the program may end without reading
    child.stdin.end(options.input || "");
  });
}

// The page of a model as text. It is one file, with the program's own style and scripts.
async function viewPage(program, model, extra) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "lemma-view-"));
  const file = path.join(folder, "model.html");
  try {
    const ended = await run(program, ["view", model, `--html=${file}`, ...extra]);
    if (ended.status !== 0) {
      throw new Error(ended.err.trim() || `lemma view ends with ${ended.status}`);
    }
    return fs.readFileSync(file, "utf8");
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function escapeHtml(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => names[character]);
}

// A page that shows a message as it is, and runs nothing.
function messagePage(title, message) {
  return `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body { font-family: sans-serif } pre { white-space: pre-wrap }</style></head>
<body><h3>${escapeHtml(title)}</h3><pre>${escapeHtml(message)}</pre></body></html>`;
}

module.exports = { escapeHtml, messagePage, modelOf, run, startFailure, viewPage };
