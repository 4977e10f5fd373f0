// SPDX-License-Identifier: Apache-2.0
// tokens.js — splits texts into tokens as VS Code does: with vscode-textmate and Oniguruma.
"use strict";

const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const ROOT = path.resolve(__dirname, "../../..");
const GRAMMARS = {
  "source.sknd": path.join(__dirname, "../syntaxes/sknd.tmLanguage.json"),
  "source.nnef": path.join(__dirname, "../syntaxes/nnef.tmLanguage.json"),
};

const library = (async () => {
  const file = require.resolve("vscode-oniguruma/release/onig.wasm");
  await oniguruma.loadWASM(fs.readFileSync(file).buffer);
  return {
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  };
})();

const registry = new textmate.Registry({
  onigLib: library,
  loadGrammar: async (scope) =>
    textmate.parseRawGrammar(fs.readFileSync(GRAMMARS[scope], "utf8"), GRAMMARS[scope]),
});

// The tokens of a text: {line, column, text, scopes}. White space has none.
async function tokensOf(text, scope) {
  const grammar = await registry.loadGrammar(scope);
  const found = [];
  let state = textmate.INITIAL;
  text.split("\n").forEach((line, index) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const token of result.tokens) {
      const part = line.slice(token.startIndex, token.endIndex);
      if (part.trim()) {
        found.push({
          line: index + 1, column: token.startIndex + 1, text: part, scopes: token.scopes,
        });
      }
    }
  });
  return found;
}

// The files below a folder of the repository with one of these ends.
function filesBelow(folder, end) {
  const found = [];
  for (const entry of fs.readdirSync(path.join(ROOT, folder), { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...filesBelow(name, end));
    else if (name.endsWith(end)) found.push(name);
  }
  return found.sort();
}

// The entries `{"word", …}` of a table in a C++ file.
function wordsOfTable(file) {
  const text = fs.readFileSync(path.join(ROOT, file), "utf8");
  const found = [...text.matchAll(/\{"(\w+)", TokenKind::Kw\w+\}/g)].map((match) => match[1]);
  if (!found.length) throw new Error(`${file} has no table of keywords`);
  return found;
}

module.exports = { GRAMMARS, ROOT, filesBelow, tokensOf, wordsOfTable };
