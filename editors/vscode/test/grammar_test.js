// SPDX-License-Identifier: Apache-2.0
// grammar_test.js — the grammars on real files, and the scopes of a sample.
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { ROOT, filesBelow, tokensOf, wordsOfTable } = require("./tokens");

const SKND_WORDS = new Set(wordsOfTable("src/sknd/syntax/keywords.h"));
const NNEF_WORDS = new Set(wordsOfTable("src/nnef1/syntax/tokens.cpp"));
const IS_WORD = /^(keyword|storage|support|constant\.language)\./;

function inside(token, kinds) {
  const last = token.scopes[token.scopes.length - 1];
  return kinds.some((kind) => last.startsWith(kind));
}

// Every keyword of a file has the scope of a keyword, nothing is invalid, nothing has no scope.
async function checkFile(file, scope, words) {
  const tokens = await tokensOf(fs.readFileSync(path.join(ROOT, file), "utf8"), scope);
  for (const token of tokens) {
    const place = `${file}:${token.line}:${token.column}: \`${token.text}\``;
    const last = token.scopes[token.scopes.length - 1];
    assert.ok(!last.startsWith("invalid."), `${place} is ${last}`);
    if (inside(token, ["comment.", "string."])) continue;
    assert.notStrictEqual(last, scope, `${place} has no scope`);
    const word = token.text.trim();
    if (words.has(word)) assert.match(last, IS_WORD, `${place} is ${last}, not a keyword`);
  }
  return tokens.length;
}

function shown(tokens) {
  return tokens.map((token) => {
    const scopes = token.scopes.slice(1).filter((scope) => !scope.startsWith("meta."));
    return `${token.line}:${token.column} ${token.text.trim()}  ${scopes.join(" ")}`;
  }).join("\n") + "\n";
}

async function checkSample(name, scope) {
  const text = fs.readFileSync(path.join(__dirname, name), "utf8");
  const golden = path.join(__dirname, `${name}.scopes`);
  const real = shown(await tokensOf(text, scope));
  if (process.argv.includes("--update")) fs.writeFileSync(golden, real);
  assert.strictEqual(real, fs.readFileSync(golden, "utf8"));
}

const skndFiles = [...filesBelow("stdlib", ".sknd"), ...filesBelow("examples", ".sknd")];
const nnefFiles = [...filesBelow("stdlib", ".nnef"), ...filesBelow("examples", ".nnef")];

module.exports = [
  ["there are files to read", () => {
    assert.ok(skndFiles.length > 50 && nnefFiles.length > 3);
  }],
  ...skndFiles.map((file) => [file, () => checkFile(file, "source.sknd", SKND_WORDS)]),
  ...nnefFiles.map((file) => [file, () => checkFile(file, "source.nnef", NNEF_WORDS)]),
  ["the scopes of sample.sknd", () => checkSample("sample.sknd", "source.sknd")],
  ["the scopes of sample.nnef", () => checkSample("sample.nnef", "source.nnef")],
  ["a string over two lines ends", async () => {
    const tokens = await tokensOf('@assert { a: "one\ntwo"; } graph G', "source.sknd");
    const last = tokens[tokens.length - 1];
    assert.deepStrictEqual(last.scopes, ["source.sknd", "entity.name.class.sknd"]);
  }],
  ["an unclosed string of NNEF 1.0 ends with its line", async () => {
    const tokens = await tokensOf("x = 'open\ngraph g", "source.nnef");
    assert.match(tokens[tokens.length - 1].scopes[1], /^entity\.name\.function/);
  }],
];
