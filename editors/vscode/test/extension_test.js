// SPDX-License-Identifier: Apache-2.0
// extension_test.js — the extension with a stub of VS Code and a program in the place of `lemma`.
"use strict";

const assert = require("assert");
const fs = require("fs");
const os = require("os");
const path = require("path");
const program = require("../src/program");
const { load } = require("./stub");

const PROGRAM = `#!/usr/bin/env node
const [command, model, ...rest] = process.argv.slice(2);
if (command === "view") {
  const html = rest.find((word) => word.startsWith("--html="));
  if (model.includes("broken")) { console.error("<b>no model</b>"); process.exit(1); }
  require("fs").writeFileSync(html.slice(7), "<html>" + model + " " + rest.slice(1) + "</html>");
} else {
  console.log([command, model, ...rest].join(" "));
  process.exit(model.includes("broken") ? 1 : 0);
}
`;

async function inFolder(test) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "lemma-test-"));
  try {
    const lemma = path.join(folder, "lemma");
    fs.writeFileSync(lemma, PROGRAM, { mode: 0o755 });
    await test(folder, lemma);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function activated(settings) {
  const loaded = load(settings);
  await loaded.extension.activate({ subscriptions: [] });
  return loaded;
}

module.exports = [
  ["a main file stands for its folder", () => {
    assert.strictEqual(program.modelOf("/a/net/main.sknd"), "/a/net");
    assert.strictEqual(program.modelOf("/a/net/graph.nnef"), "/a/net");
    assert.strictEqual(program.modelOf("/a/net.sknd"), "/a/net.sknd");
    assert.strictEqual(program.modelOf("/a/net.onnx"), "/a/net.onnx");
  }],
  ["messages are text, not HTML", () => {
    const page = program.messagePage("<i>", "<script>alert(1)</script> & \"'");
    assert.ok(!page.includes("<script>") && !page.includes("<i>"));
    assert.match(page, /&lt;script&gt;alert\(1\)&lt;\/script&gt; &amp; &quot;&#39;/);
  }],
  ["a missing program is explained", async () => {
    await assert.rejects(program.run("/no/such/lemma", ["check"]), /set "lemma\.path"/);
  }],
  ["the server is started with its arguments", async () => {
    const { seen } = await activated({ path: "/opt/lemma", serverArguments: ["--log=x"] });
    assert.strictEqual(seen.clients.length, 1);
    assert.ok(seen.clients[0].running);
    assert.strictEqual(seen.clients[0].server.command, "/opt/lemma");
    assert.deepStrictEqual(seen.clients[0].server.args, ["lsp", "--log=x"]);
    assert.deepStrictEqual(seen.clients[0].options.documentSelector,
                           [{ language: "sknd" }, { language: "nnef" }]);
  }],
  ["a server that does not start leaves the commands", async () => {
    const loaded = load({});
    loaded.seen.failStart = Object.assign(new Error("spawn"), { code: "ENOENT" });
    await loaded.extension.activate({ subscriptions: [] });
    assert.match(loaded.seen.messages[0], /There is no program "lemma"/);
    assert.ok(loaded.seen.commands.has("lemma.run"));
    await loaded.extension.deactivate();
  }],
  ["restart, and another path, start a new server", async () => {
    const { seen } = await activated({});
    await seen.commands.get("lemma.restart")();
    await seen.configured({ affectsConfiguration: (name) => name === "lemma.path" });
    assert.deepStrictEqual(seen.clients.map((client) => client.running), [false, false, true]);
    await seen.configured({ affectsConfiguration: () => false });
    assert.strictEqual(seen.clients.length, 3);
  }],
  ["check and run show what the program prints", () => inFolder(async (folder, lemma) => {
    const { seen, vscode } = await activated({ path: lemma, runArguments: ["--seed=1"] });
    const file = vscode.Uri.file(path.join(folder, "main.sknd"));
    await seen.commands.get("lemma.run")(file);
    assert.match(seen.output, new RegExp(`run ${folder} --seed=1\n`));
    await seen.commands.get("lemma.check")(vscode.Uri.file(path.join(folder, "broken.onnx")));
    assert.match(seen.output, /check .*broken\.onnx -v\nends with status 1/);
  })],
  ["commands save the texts of the model first", () => inFolder(async (folder, lemma) => {
    const { seen, vscode } = await activated({ path: lemma });
    const saved = [];
    const open = (name, isDirty) => seen.documents.push({
      isDirty, uri: vscode.Uri.file(name), save: async () => saved.push(path.basename(name)),
    });
    open(path.join(folder, "part.sknd"), true);
    open(path.join(folder, "clean.sknd"), false);
    open("/elsewhere/other.sknd", true);
    await seen.commands.get("lemma.check")(vscode.Uri.file(path.join(folder, "main.sknd")));
    assert.deepStrictEqual(saved, ["part.sknd"]);
  })],
  ["without a file, commands say so", async () => {
    const { seen } = await activated({});
    for (const name of ["check", "run", "view", "viewInBrowser", "format"]) {
      await seen.commands.get(`lemma.${name}`)();
    }
    assert.strictEqual(seen.messages.filter((text) => text.startsWith("Open a")).length, 5);
  }],
  ["format leaves the work to the editor and the server", async () => {
    const { seen, vscode } = await activated({});
    vscode.window.activeTextEditor = { document: { languageId: "sknd" } };
    await seen.commands.get("lemma.format")();
    assert.deepStrictEqual(seen.messages, ["executed editor.action.formatDocument"]);
  }],
  ["a page beside the text follows what is saved", () => inFolder(async (folder, lemma) => {
    const { seen, vscode } = await activated({ path: lemma, viewArguments: ["--weights"] });
    const file = vscode.Uri.file(path.join(folder, "net.sknd"));
    await seen.commands.get("lemma.view")(file);
    assert.match(seen.panels[0].webview.html, /net\.sknd --weights/);
    seen.panels[0].webview.html = "";
    await seen.saved[0]({ uri: vscode.Uri.file(path.join(folder, "module.sknd")) });
    assert.match(seen.panels[0].webview.html, /net\.sknd/);
    await seen.commands.get("lemma.view")(file);
    assert.strictEqual(seen.panels.length, 1);
    seen.panels[0].close();
    await seen.commands.get("lemma.view")(file);
    assert.strictEqual(seen.panels.length, 2);
  })],
  ["ONNX files are shown, and again when they change", () => inFolder(async (folder, lemma) => {
    const { panel, seen, vscode } = await activated({ path: lemma });
    const editor = seen.editors.get("lemma.model");
    const made = panel();
    const document = editor.openCustomDocument(vscode.Uri.file(path.join(folder, "net.onnx")));
    await editor.resolveCustomEditor(document, made);
    assert.match(made.webview.html, /net\.onnx/);
    made.webview.html = "";
    await seen.changed[seen.changed.length - 1]();
    assert.match(made.webview.html, /net\.onnx/);
  })],
  ["a model that cannot be shown shows why, as text", () => inFolder(async (folder, lemma) => {
    const { panel, seen, vscode } = await activated({ path: lemma });
    const made = panel();
    const editor = seen.editors.get("lemma.model");
    const uri = vscode.Uri.file(path.join(folder, "broken.onnx"));
    await editor.resolveCustomEditor(editor.openCustomDocument(uri), made);
    assert.match(made.webview.html, /&lt;b&gt;no model&lt;\/b&gt;/);
  })],
  ["the browser gets a terminal without a shell", async () => {
    const { seen, vscode } = await activated({ path: "/opt/lemma" });
    seen.commands.get("lemma.viewInBrowser")(vscode.Uri.file("/a b/$(x)/net.onnx"));
    assert.strictEqual(seen.terminals[0].shellPath, "/opt/lemma");
    assert.deepStrictEqual(seen.terminals[0].shellArgs, ["view", "/a b/$(x)/net.onnx"]);
  }],
];
