// SPDX-License-Identifier: Apache-2.0
// Every feature of the language server, through the packages of Visual Studio Code. Prints
// `N passed, M failed`.
//
//     NODE_PATH=build/release/lsp/node_modules node tests/lsp/session_test.js LEMMA [NAME…]
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const url = require("url");
const { Session, makeFolder, lsp } = require("./session");

const [lemma, ...wanted] = process.argv.slice(2);

const kMain = `# A small model.
import nn;
import math;
import blocks.dense;

graph main {
    @attrib {
        size: int = 8;
    }
    @input {
        x: real[1, size];
    }
    @output {
        y: real[1, 4];
    }
    @variable {
        w: real[4, size];
        b: real[4];
    }
    @compose {
        h = nn.linear(x, w, b);
        r = nn.relu(h);
        y = blocks.dense.twice{factor=3.0}(r);
    }
}
`;
const kDense = `# Twice a tensor.
operator twice {
    @attrib {
        factor: real = 2.0;
    }
    @input {
        x: real[s..];
    }
    @output {
        y: real[s..];
    }
    @lower {
        y[i..] = x[i..] * factor, i < s;
    }
}

operator other {
    @input {
        x: real[s..];
    }
    @output {
        y: real[s..];
    }
    @compose {
        y = twice{factor=4.0}(x);
    }
}
`;
const kNnef = `version 1.0;

extension KHR_enable_fragment_definitions;

# A linear layer with relu.
fragment layer( x: tensor<scalar>, w: tensor<scalar>, slope: scalar = 0.0 ) -> ( y: tensor<scalar> )
{
    z = matmul(x, w);
    y = leaky_relu(z, alpha = slope);
}

graph net( input ) -> ( output )
{
    input = external<scalar>(shape = [1, 8]);
    weight = variable<scalar>(shape = [8, 4], label = 'weight');
    hidden = layer(input, weight, slope = 0.1);
    output = softmax(hidden);
}
`;

let folder, cache, session, main, dense, nnef;
// Without the warning about the import that nothing uses.
const clean = (list) => list.filter((item) => !item.message.includes("`math`"));
const labels = (list) => list.items.map((item) => item.label);
// Semantic tokens as texts with their kinds.
let legend;
const decoded = (uri, data) => {
  const tokens = [];
  let line = 0, character = 0;
  for (let i = 0; i < data.length; i += 5) {
    character = data[i] === 0 ? character + data[i + 1] : data[i + 1];
    line += data[i];
    const range = { start: { line, character }, end: { line, character: character + data[i + 2] } };
    tokens.push([session.slice(uri, range), legend.tokenTypes[data[i + 3]]]);
  }
  return tokens;
};
const hasTokens = (tokens, expected) => {
  for (const [text, kind] of expected)
    assert.ok(tokens.some((token) => token[0] === text && token[1] === kind), `${text} ${kind}`);
};

const tests = {
  async capabilities() {
    const other = new Session(lemma, [folder], cache);
    const { capabilities, serverInfo } = await other.start();
    assert.strictEqual(serverInfo.name, "lemma");
    assert.strictEqual(capabilities.positionEncoding, "utf-16");
    for (const name of ["hover", "completion", "signatureHelp", "definition", "references",
      "rename", "documentSymbol", "workspaceSymbol", "foldingRange", "semanticTokens",
      "documentFormatting", "documentRangeFormatting", "documentOnTypeFormatting", "codeAction",
      "inlayHint", "callHierarchy", "documentLink", "documentHighlight"])
      assert.ok(capabilities[name + "Provider"], name);
    assert.strictEqual(await other.end(), 0);
  },

  async diagnosticsWhileTyping() {
    assert.deepStrictEqual(clean(await session.waitDiagnostics(main, 1)), []);
    let version = session.edit(main, "nn.relu(h)", "nn.rely(h)");
    const [wrong] = clean(await session.waitDiagnostics(main, version));
    assert.strictEqual(wrong.code, "no-operator");
    assert.strictEqual(wrong.source, "lemma");
    assert.strictEqual(wrong.severity, 1);
    assert.strictEqual(session.slice(main, wrong.range), "nn.rely");
    version = session.edit(main, "nn.rely(h)", "nn.relu(h)");
    assert.deepStrictEqual(clean(await session.waitDiagnostics(main, version)), []);
    // A warning, and a fault with a note at another place.
    version = session.edit(main, "r = nn.relu(h);", "r = nn.relu(h); q = nn.relu(h);");
    const [unused] = clean(await session.waitDiagnostics(main, version));
    assert.deepStrictEqual([unused.severity, unused.tags], [2, [1]]);
    version = session.edit(main, " q = nn.relu(h);", " r = nn.relu(h);");
    const [twice] = clean(await session.waitDiagnostics(main, version));
    assert.strictEqual(session.slice(main, twice.relatedInformation[0].location.range), "r");
    version = session.edit(main, " r = nn.relu(h);", "");
    await session.waitDiagnostics(main, version);
    session.set(main, kMain);
  },

  async diagnosticsOfModules() {
    const version = session.edit(dense, "x[i..] * factor", "x[i..] * factr");
    const found = await session.waitDiagnostics(dense, version);
    assert.ok(found[0].message.includes("factr"), found[0].message);
    session.set(dense, kDense);
    await session.waitDiagnostics(dense, null, (list) => list.length === 0);
    // A file without an open text is read from the disk.
    session.close(dense);
    fs.writeFileSync(path.join(folder, "blocks/dense.sknd"), kDense.replace("* factor", "* factr"));
    session.connection.sendNotification(lsp.DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: dense, type: 2 }] });
    await session.waitDiagnostics(dense, null, (list) => list.length > 0);
    fs.writeFileSync(path.join(folder, "blocks/dense.sknd"), kDense);
    dense = session.open(path.join(folder, "blocks/dense.sknd"));
    await session.waitDiagnostics(dense, null, (list) => list.length === 0);
    assert.ok(session.registrations.some((r) => r.method === "workspace/didChangeWatchedFiles"));
  },

  async hover() {
    const of = async (pattern) =>
      (await session.request(lsp.HoverRequest.type, main, pattern)).contents.value;
    const linear = await of("nn.li|near");
    for (const part of ["operator linear", "filter: real[n, c]", "Fully connected", "This call",
      "`input: f32[1,8]`", "`output: f32[1,4]`"]) assert.ok(linear.includes(part), linear);
    const twice = await of("dense.tw|ice");
    for (const part of ["factor: real = 2.0", "Twice a tensor", "`factor = 3`"])
      assert.ok(twice.includes(part), twice);
    const tensor = await of("nn.relu(|h)");
    assert.ok(tensor.includes("h = nn.linear(x, w, b)") && tensor.includes("f32[1,4]"), tensor);
    const attribute = await of("[4, si|ze]");
    assert.ok(attribute.includes("size: int = 8") && attribute.includes("attribute"), attribute);
    const module = await of("import n|n");
    assert.ok(module.includes("Neural network operators"), module);
    assert.ok((await of("{fac|tor=")).includes("factor: real = 2.0"));
    assert.strictEqual(await session.request(lsp.HoverRequest.type, main, "# A sm|all"), null);
  },

  async completionOfOperators() {
    const version = session.edit(main, "r = nn.relu(h);", "r = nn.re");
    const list = await session.request(lsp.CompletionRequest.type, main, "r = nn.re|");
    const relu = list.items.find((item) => item.label === "relu");
    assert.ok(relu, labels(list).join(" "));
    assert.strictEqual(relu.textEdit.newText, "relu(${1:x})");
    assert.strictEqual(session.slice(main, relu.textEdit.range), "re");
    assert.ok(relu.detail.startsWith("y = nn.relu"), relu.detail);
    assert.ok(!labels(list).includes("graph"));
    session.edit(main, "r = nn.re", "r = ");
    const all = labels(await session.request(lsp.CompletionRequest.type, main, "r = |"));
    for (const name of ["h", "x", "w", "nn.relu", "math.add", "blocks.dense.twice", "nn", "if"])
      assert.ok(all.includes(name), name);
    session.edit(main, "r = ", "r = tw");
    const some = labels(await session.request(lsp.CompletionRequest.type, main, "r = tw|"));
    assert.ok(some.includes("blocks.dense.twice") && !some.includes("h"), some.join(" "));
    session.set(main, kMain);
    assert.ok(version > 1);
  },

  async completionOfAttributes() {
    session.edit(main, "r = nn.relu(h);", "r = nn.max_pool{stride=2, ");
    const list = await session.request(lsp.CompletionRequest.type, main, "stride=2, |");
    const size = list.items.find((item) => item.label === "size");
    assert.ok(size && !labels(list).includes("stride"), labels(list).join(" "));
    const dilation = list.items.find((item) => item.label === "dilation");
    assert.ok(dilation.detail.endsWith("= 1"), dilation.detail);
    assert.strictEqual(dilation.textEdit.newText, "dilation=${1:1}");
    session.set(main, kMain);
  },

  async completionElsewhere() {
    session.edit(main, "import math;", "import ");
    let list = await session.request(lsp.CompletionRequest.type, main, "import |\nimport blocks");
    assert.ok(labels(list).includes("math") && labels(list).includes("blocks.dense"));
    session.set(main, kMain + "\n@");
    list = await session.request(lsp.CompletionRequest.type, main, "\n@|");
    assert.ok(labels(list).includes("@compose"));
    session.set(main, kMain + "\ngr");
    list = await session.request(lsp.CompletionRequest.type, main, "\ngr|");
    assert.ok(labels(list).includes("graph") && labels(list).includes("graph …"));
    session.set(main, kMain.replace("b: real[4]", "b: "));
    list = await session.request(lsp.CompletionRequest.type, main, "b: |");
    assert.ok(labels(list).includes("real") && labels(list).includes("optional"));
    session.set(main, kMain);
    list = await session.request(lsp.CompletionRequest.type, main, "# A sm|all");
    assert.deepStrictEqual(list.items, []);
  },

  async signatureHelp() {
    session.edit(main, "r = nn.relu(h);", "r = nn.linear(h, ");
    let help = await session.request(lsp.SignatureHelpRequest.type, main, "nn.linear(h, |");
    assert.strictEqual(help.signatures[0].label,
      "nn.linear(input: real[b, c], filter: real[n, c], bias: optional real[n])");
    assert.strictEqual(help.activeParameter, 1);
    const [begin, end] = help.signatures[0].parameters[1].label;
    assert.strictEqual(help.signatures[0].label.slice(begin, end), "filter: real[n, c]");
    session.edit(main, "r = nn.linear(h, ", "r = blocks.dense.twice{factor=");
    help = await session.request(lsp.SignatureHelpRequest.type, main, "r = blocks.dense.twice{factor=|");
    assert.ok(help.signatures[0].label.startsWith("blocks.dense.twice{factor: real = 2.0}"));
    assert.strictEqual(help.activeParameter, 0);
    session.set(main, kMain);
    assert.strictEqual(await session.request(lsp.SignatureHelpRequest.type, main, "@compose"), null);
  },

  async definition() {
    const of = (pattern) => session.request(lsp.DefinitionRequest.type, main, pattern);
    const local = await of("nn.relu(|h)");
    assert.deepStrictEqual([local.uri, session.slice(main, local.range)], [main, "h"]);
    const twice = await of("dense.tw|ice");
    assert.deepStrictEqual([twice.uri, session.slice(dense, twice.range)], [dense, "twice"]);
    const factor = await of("{fac|tor");
    assert.deepStrictEqual([factor.uri, session.slice(dense, factor.range)], [dense, "factor"]);
    const relu = await of("nn.re|lu");
    const file = url.fileURLToPath(relu.uri);
    assert.ok(file.startsWith(cache) && file.endsWith(".sknd"), file);
    assert.strictEqual(session.slice(relu.uri, relu.range), "relu");
    assert.strictEqual(fs.statSync(file).mode & 0o222, 0, "it is read-only");
    // From there on, too.
    const copy = session.open(file);
    const symbols = await session.request(lsp.DocumentSymbolRequest.type, copy, null);
    assert.ok(symbols.some((symbol) => symbol.name === "relu"));
    session.close(copy);
    assert.strictEqual((await of("import blocks.de|nse")).uri, dense);
  },

  async references() {
    const of = async (uri, pattern, includeDeclaration = true) =>
      (await session.request(lsp.ReferencesRequest.type, uri, pattern, { context: { includeDeclaration } }))
        .map((place) => `${path.basename(place.uri)}:${place.range.start.line}`);
    assert.deepStrictEqual(await of(main, "|h = nn"), ["main.sknd:20", "main.sknd:21"]);
    assert.deepStrictEqual(await of(main, "|h = nn", false), ["main.sknd:21"]);
    assert.deepStrictEqual(await of(main, "si|ze: int"), ["main.sknd:7", "main.sknd:10", "main.sknd:16"]);
    assert.deepStrictEqual(await of(dense, "twi|ce {"), ["dense.sknd:1", "dense.sknd:24", "main.sknd:22"]);
    assert.deepStrictEqual(await of(main, "{fac|tor"),
      ["dense.sknd:3", "dense.sknd:12", "dense.sknd:24", "main.sknd:22"]);
    const marks = await session.request(lsp.DocumentHighlightRequest.type, main, "|h = nn");
    assert.deepStrictEqual(marks.map((mark) => mark.kind), [3, 2]);
  },

  async rename() {
    const place = await session.request(lsp.PrepareRenameRequest.type, main, "dense.tw|ice");
    assert.strictEqual(place.placeholder, "twice");
    const edit = await session.request(lsp.RenameRequest.type, main, "dense.tw|ice", { newName: "scaled" });
    const changed = Object.fromEntries(edit.documentChanges.map((change) =>
      [change.textDocument.uri, session.applied(change.textDocument.uri, change.edits)]));
    assert.strictEqual(changed[main], kMain.replace("dense.twice", "dense.scaled"));
    assert.strictEqual(changed[dense], kDense.replace(/\btwice\b/g, "scaled"));
    await assert.rejects(session.request(lsp.RenameRequest.type, main, "|h = nn", { newName: "2x" }));
    await assert.rejects(session.request(lsp.RenameRequest.type, main, "|h = nn", { newName: "graph" }));
    await assert.rejects(session.request(lsp.RenameRequest.type, main, "|h = nn", { newName: "r" }));
    await assert.rejects(session.request(lsp.PrepareRenameRequest.type, main, "nn.re|lu"));
    assert.strictEqual(await session.request(lsp.PrepareRenameRequest.type, main, "# A sm|all"), null);
  },

  async symbols() {
    const [graph] = await session.request(lsp.DocumentSymbolRequest.type, main, null);
    assert.strictEqual(graph.name, "main");
    assert.deepStrictEqual(graph.children.map((child) => child.name),
      ["size", "x", "w", "b", "y", "h", "r"]);
    const found = await session.connection.sendRequest(lsp.WorkspaceSymbolRequest.type, { query: "twi" });
    assert.deepStrictEqual(found.map((s) => [s.name, s.location.uri]), [["twice", dense]]);
  },

  async folding() {
    const ranges = await session.request(lsp.FoldingRangeRequest.type, main, null);
    const has = (startLine, endLine, kind) => assert.ok(
      ranges.some((r) => r.startLine === startLine && r.endLine === endLine && r.kind === kind),
      JSON.stringify(ranges));
    has(5, 23, undefined);
    has(19, 22, undefined);
    has(1, 3, "imports");
  },

  async semanticTokens() {
    const full = decoded(main, (await session.request(lsp.SemanticTokensRequest.type, main, null)).data);
    hasTokens(full, [["# A small model.", "comment"], ["import", "keyword"], ["nn", "namespace"],
      ["main", "class"], ["@compose", "macro"], ["real", "type"], ["size", "property"],
      ["linear", "function"], ["factor", "property"], ["h", "variable"], ["x", "parameter"],
      ["3.0", "number"]]);
    const part = await session.request(lsp.SemanticTokensRangeRequest.type, main, null, {
      range: { start: { line: 21, character: 0 }, end: { line: 21, character: 40 } } });
    assert.deepStrictEqual(decoded(main, part.data).map((token) => token[0]), ["r", "=", "nn", "relu", "h"]);
  },

  async semanticTokensDelta() {
    let last = await session.request(lsp.SemanticTokensRequest.type, main, null);
    let data = last.data;
    const delta = async (uri = main) => {
      const answer = await session.request(lsp.SemanticTokensDeltaRequest.type, uri, null, {
        previousResultId: last.resultId });
      for (const edit of answer.edits ?? []) data.splice(edit.start, edit.deleteCount, ...(edit.data ?? []));
      last = answer;
      return answer;
    };
    assert.deepStrictEqual((await delta()).edits, []);
    const changes = [["r = nn.relu(h);", "rr = nn.relu(h);"], ["    @compose {", "    # more\n    @compose {"],
      ["import math;\n", ""], ["rr = nn.relu(h);", ""], ["# A small model.", ""]];
    for (const [before, after] of changes) {
      session.edit(main, before, after);
      const { edits } = await delta();
      assert.strictEqual(edits.length, 1);
      assert.ok(edits[0].deleteCount + (edits[0].data ?? []).length < data.length / 2, JSON.stringify(edits));
      const whole = await session.request(lsp.SemanticTokensRequest.type, main, null);
      assert.deepStrictEqual(data, whole.data);
      last = whole;
    }
    // An answer that the server does not know brings all tokens.
    last = { resultId: "of another session" };
    assert.ok((await delta()).data.length > 0);
    // So does one for a text that was closed.
    session.close(main);
    session.open(path.join(folder, "main.sknd"));
    const again = await delta();
    assert.strictEqual(again.edits, undefined);
    assert.ok(again.resultId);
    session.set(main, kMain);
  },

  async formatting() {
    const options = { tabSize: 4, insertSpaces: true };
    session.set(main, kMain.replace("r = nn.relu(h);", "r=nn.relu( h );").replace("b: real[4];", "b:real[4];"));
    const edits = await session.request(lsp.DocumentFormattingRequest.type, main, null, { options });
    assert.strictEqual(edits.length, 2);
    assert.strictEqual(session.applied(main, edits), kMain);
    const some = await session.request(lsp.DocumentRangeFormattingRequest.type, main, null, {
      options, range: { start: { line: 21, character: 0 }, end: { line: 21, character: 5 } } });
    assert.strictEqual(session.applied(main, some), kMain.replace("b: real[4];", "b:real[4];"));
    const typed = await session.request(lsp.DocumentOnTypeFormattingRequest.type, main, "( h );|", {
      options, ch: ";" });
    assert.deepStrictEqual(typed, some);
    const block = await session.request(lsp.DocumentOnTypeFormattingRequest.type, main,
      "b:real[4];\n    }|", { options, ch: "}" });
    assert.strictEqual(session.applied(main, block), kMain.replace("r = nn.relu(h);", "r=nn.relu( h );"));
    session.set(main, kMain + "graph {");
    assert.deepStrictEqual(
      await session.request(lsp.DocumentFormattingRequest.type, main, null, { options }), []);
    session.set(main, kMain);
    assert.deepStrictEqual(
      await session.request(lsp.DocumentFormattingRequest.type, main, null, { options }), []);
  },

  async codeActions() {
    session.set(main, kMain.replace("nn.relu(h)", "nn.rely(h)").replace("nn.linear", "nn.liner"));
    const all = { start: { line: 0, character: 0 }, end: { line: 30, character: 0 } };
    const actions = await session.request(lsp.CodeActionRequest.type, main, null, {
      range: all, context: { diagnostics: [] } });
    const text = (action) => session.applied(main, action.edit.documentChanges[0].edits);
    const titles = actions.map((action) => action.title);
    const one = actions.find((action) => text(action).includes("nn.relu(h)") && text(action).includes("nn.liner"));
    assert.ok(one && one.kind === "quickfix" && one.diagnostics.length === 1, titles.join("; "));
    const both = actions.find((action) => action.title.startsWith("Fix all"));
    assert.strictEqual(text(both), kMain);
    const line = { start: session.at(main, "nn.rely"), end: session.at(main, "nn.rely") };
    const here = await session.request(lsp.CodeActionRequest.type, main, null, {
      range: line, context: { diagnostics: [], only: ["source.fixAll"] } });
    assert.deepStrictEqual(here.map((action) => action.kind), ["source.fixAll"]);
    session.set(main, kMain);
  },

  async inlayHints() {
    const range = { start: { line: 0, character: 0 }, end: { line: 30, character: 0 } };
    const hints = await session.request(lsp.InlayHintRequest.type, main, null, { range });
    assert.deepStrictEqual(hints.map((hint) => [hint.position.line, hint.label]),
      [[20, ": f32[1,4]"], [21, ": f32[1,4]"]]);
  },

  async callHierarchy() {
    const [item] = await session.request(lsp.CallHierarchyPrepareRequest.type, main, "dense.tw|ice");
    assert.deepStrictEqual([item.name, item.uri], ["twice", dense]);
    const incoming = await session.connection.sendRequest(lsp.CallHierarchyIncomingCallsRequest.type, { item });
    assert.deepStrictEqual(incoming.map((call) => call.from.name).sort(), ["main", "other"]);
    const [graph] = await session.request(lsp.CallHierarchyPrepareRequest.type, main, "graph ma|in");
    const outgoing = await session.connection.sendRequest(
      lsp.CallHierarchyOutgoingCallsRequest.type, { item: graph });
    assert.deepStrictEqual(outgoing.map((call) => call.to.name).sort(), ["linear", "relu", "twice"]);
  },

  async documentLinks() {
    const links = await session.request(lsp.DocumentLinkRequest.type, main, null);
    assert.deepStrictEqual(links.map((link) => session.slice(main, link.range)),
      ["nn", "math", "blocks.dense"]);
    assert.strictEqual(links[2].target, dense);
    for (const link of links) assert.ok(fs.existsSync(url.fileURLToPath(link.target)), link.target);
  },

  async cancellation() {
    session.set(main, kMain.replace("[1, size]", "[2, size]"));
    const source = new lsp.CancellationTokenSource();
    const answer = session.connection.sendRequest(lsp.HoverRequest.type,
      { textDocument: { uri: main }, position: session.at(main, "nn.li|near") }, source.token);
    source.cancel();
    await answer.then((value) => assert.ok(value), (error) => assert.strictEqual(error.code, -32800));
    session.set(main, kMain);
  },

  async severalRoots() {
    const second = makeFolder({ "main.sknd": kMain.replace("import blocks.dense;\n", "")
      .replace("blocks.dense.twice{factor=3.0}(r)", "far(r)") + "\noperator far {}\n" });
    session.connection.sendNotification(lsp.DidChangeWorkspaceFoldersNotification.type, {
      event: { added: [{ uri: url.pathToFileURL(second).href, name: "second" }], removed: [] } });
    const found = await session.connection.sendRequest(lsp.WorkspaceSymbolRequest.type, { query: "far" });
    assert.deepStrictEqual(found.map((symbol) => symbol.name), ["far"]);
    const both = await session.connection.sendRequest(lsp.WorkspaceSymbolRequest.type, { query: "main" });
    assert.strictEqual(both.length, 2);
    fs.rmSync(second, { recursive: true });
  },

  async nnef1() {
    assert.deepStrictEqual(await session.waitDiagnostics(nnef, 1), []);
    let version = session.edit(nnef, "softmax(hidden)", "softmx(hidden)");
    const [wrong] = await session.waitDiagnostics(nnef, version);
    assert.strictEqual(session.slice(nnef, wrong.range), "softmx");
    const actions = await session.request(lsp.CodeActionRequest.type, nnef, null, {
      range: wrong.range, context: { diagnostics: [wrong] } });
    assert.strictEqual(session.applied(nnef, actions[0].edit.documentChanges[0].edits), kNnef);
    version = session.set(nnef, kNnef);
    const hover = async (pattern) =>
      (await session.request(lsp.HoverRequest.type, nnef, pattern)).contents.value;
    assert.ok((await hover("soft|max(")).includes("fragment softmax"));
    assert.ok((await hover("= la|yer(")).includes("A linear layer with relu."));
    assert.ok((await hover("softmax(|hidden")).includes("f32[1,4]"));
    const definition = await session.request(lsp.DefinitionRequest.type, nnef, "soft|max(");
    assert.ok(definition.uri.endsWith("standard.nnef"));
    assert.strictEqual(session.slice(definition.uri, definition.range), "softmax");
    const slope = await session.request(lsp.DefinitionRequest.type, nnef, "weight, slo|pe");
    assert.strictEqual(slope.range.start.line, 5);
    session.edit(nnef, "softmax(hidden)", "max_pool(hidden, ");
    const list = labels(await session.request(lsp.CompletionRequest.type, nnef, "max_pool(hidden, |"));
    for (const name of ["size =", "border =", "hidden", "layer", "softmax"])
      assert.ok(list.includes(name), name);
    const help = await session.request(lsp.SignatureHelpRequest.type, nnef, "max_pool(hidden, |");
    assert.ok(help.signatures[0].label.startsWith("max_pool(input: tensor<scalar>"));
    session.set(nnef, kNnef);
    const symbols = await session.request(lsp.DocumentSymbolRequest.type, nnef, null);
    assert.deepStrictEqual(symbols.map((symbol) => symbol.name), ["layer", "net"]);
    const hints = await session.request(lsp.InlayHintRequest.type, nnef, null, {
      range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } } });
    assert.deepStrictEqual(hints.map((hint) => hint.label),
      [": f32[1,8]", ": f32[8,4]", ": f32[1,4]", ": f32[1,4]"]);
    const edit = await session.request(lsp.RenameRequest.type, nnef, "|hidden = ", { newName: "h" });
    assert.strictEqual(session.applied(nnef, edit.documentChanges[0].edits), kNnef.replace(/hidden/g, "h"));
    session.set(nnef, kNnef.replace("softmax(hidden)", "softmax( hidden )"));
    const edits = await session.request(lsp.DocumentFormattingRequest.type, nnef, null, {
      options: { tabSize: 4, insertSpaces: true } });
    assert.ok(session.applied(nnef, edits).includes("softmax(hidden)"));
    session.set(nnef, kNnef);
  },

  async nnef1References() {
    const of = async (pattern, includeDeclaration = true) =>
      (await session.request(lsp.ReferencesRequest.type, nnef, pattern, { context: { includeDeclaration } }))
        .map((place) => `${path.basename(place.uri)}:${place.range.start.line}`);
    assert.deepStrictEqual(await of("|hidden = "), ["graph.nnef:15", "graph.nnef:16"]);
    assert.deepStrictEqual(await of("|hidden = ", false), ["graph.nnef:16"]);
    assert.deepStrictEqual(await of("fragment la|yer"), ["graph.nnef:5", "graph.nnef:15"]);
    assert.deepStrictEqual(await of("slo|pe: scalar"), ["graph.nnef:5", "graph.nnef:8", "graph.nnef:15"]);
    assert.deepStrictEqual(await of("graph net( in|put"),
      ["graph.nnef:11", "graph.nnef:13", "graph.nnef:15"]);
    // A parameter of a fragment is not the tensor of the graph with the same name.
    assert.deepStrictEqual(await of("matmul(x, |w"), ["graph.nnef:5", "graph.nnef:7"]);
    const marks = await session.request(lsp.DocumentHighlightRequest.type, nnef, "|hidden = ");
    assert.deepStrictEqual(marks.map((mark) => mark.kind), [3, 2]);
  },

  async nnef1Folding() {
    const folds = async () => (await session.request(lsp.FoldingRangeRequest.type, nnef, null))
      .map((range) => [range.startLine, range.endLine, range.kind]);
    assert.deepStrictEqual(await folds(), [[5, 8, undefined], [11, 16, undefined]]);
    session.set(nnef, kNnef.replace("# A linear layer with relu.", "# A linear layer\n# with relu."));
    assert.deepStrictEqual(await folds(), [[4, 5, "comment"], [6, 9, undefined], [12, 17, undefined]]);
    session.set(nnef, kNnef);
  },

  async nnef1SemanticTokens() {
    const { data, resultId } = await session.request(lsp.SemanticTokensRequest.type, nnef, null);
    const tokens = decoded(nnef, data);
    hasTokens(tokens, [["version", "keyword"], ["1.0", "number"], ["fragment", "keyword"],
      ["# A linear layer with relu.", "comment"], ["layer", "function"], ["x", "parameter"],
      ["slope", "property"], ["scalar", "type"], ["matmul", "function"], ["net", "class"],
      ["input", "parameter"], ["hidden", "variable"], ["'weight'", "string"], ["shape", "property"]]);
    const range = { start: { line: 16, character: 0 }, end: { line: 16, character: 40 } };
    const part = await session.request(lsp.SemanticTokensRangeRequest.type, nnef, null, { range });
    assert.deepStrictEqual(decoded(nnef, part.data).map((token) => token[0]),
      ["output", "=", "softmax", "hidden"]);
    session.edit(nnef, "softmax(hidden)", "relu(hidden)");
    const delta = await session.request(lsp.SemanticTokensDeltaRequest.type, nnef, null, {
      previousResultId: resultId });
    assert.strictEqual(delta.edits.length, 1);
    session.set(nnef, kNnef);
  },

  async nnef1CallHierarchy() {
    const [item] = await session.request(lsp.CallHierarchyPrepareRequest.type, nnef, "= la|yer(");
    assert.deepStrictEqual([item.name, item.uri], ["layer", nnef]);
    const incoming = await session.connection.sendRequest(lsp.CallHierarchyIncomingCallsRequest.type, { item });
    assert.deepStrictEqual(incoming.map((call) => call.from.name), ["net"]);
    assert.deepStrictEqual(incoming[0].fromRanges.map((range) => range.start.line), [15]);
    const inside = await session.connection.sendRequest(lsp.CallHierarchyOutgoingCallsRequest.type, { item });
    assert.deepStrictEqual(inside.map((call) => call.to.name).sort(), ["leaky_relu", "matmul"]);
    const [graph] = await session.request(lsp.CallHierarchyPrepareRequest.type, nnef, "graph n|et");
    const outgoing = await session.connection.sendRequest(
      lsp.CallHierarchyOutgoingCallsRequest.type, { item: graph });
    assert.deepStrictEqual(outgoing.map((call) => call.to.name).sort(),
      ["external", "layer", "softmax", "variable"]);
  },

  async nnef1InlayHints() {
    const of = async (first, last) => (await session.request(lsp.InlayHintRequest.type, nnef, null, {
      range: { start: { line: first, character: 0 }, end: { line: last, character: 99 } } }))
      .map((hint) => [hint.position.line, hint.position.character, hint.label]);
    assert.deepStrictEqual(await of(13, 14), [[13, 9, ": f32[1,8]"], [14, 10, ": f32[8,4]"]]);
    // A fragment has no shapes of its own.
    assert.deepStrictEqual(await of(5, 9), []);
    session.edit(nnef, "shape = [1, 8]", "shape = [2, 8]");
    assert.deepStrictEqual(await of(15, 16), [[15, 10, ": f32[2,4]"], [16, 10, ": f32[2,4]"]]);
    session.set(nnef, kNnef);
  },
};

(async () => {
  folder = makeFolder({ "main.sknd": kMain, "blocks/dense.sknd": kDense, "net/graph.nnef": kNnef });
  cache = makeFolder({});
  session = new Session(lemma, [folder], cache);
  legend = (await session.start()).capabilities.semanticTokensProvider.legend;
  main = session.open(path.join(folder, "main.sknd"));
  dense = session.open(path.join(folder, "blocks/dense.sknd"));
  nnef = session.open(path.join(folder, "net/graph.nnef"));
  let passed = 0, failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    try {
      await test();
      passed += 1;
    } catch (error) {
      failed += 1;
      console.log(`${name}: ${error.stack.split("\n").slice(0, 12).join("\n  ")}`);
      session.set(main, kMain);
    }
  }
  if ((await session.end()) !== 0) failed += 1;
  for (const place of [folder, cache]) fs.rmSync(place, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
})();
