// SPDX-License-Identifier: Apache-2.0
// keywords_test.js — the grammars and the Vim syntax know every word that the lexers know.
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { ROOT, tokensOf, wordsOfTable } = require("./tokens");

const IS_WORD = /^(keyword|storage|support|constant\.language)\./;

function read(file) {
  return fs.readFileSync(path.join(ROOT, file), "utf8");
}

// The blocks and functions of SkriptND, from the C++ code.
function blocks() {
  const found = [...read("src/sknd/syntax/ast.cpp").matchAll(/return "(@\w+)";/g)];
  assert.ok(found.length >= 12, "src/sknd/syntax/ast.cpp names no blocks");
  return found.map((match) => match[1]);
}

function functions() {
  const text = read("src/sknd/syntax/parser_primary.cpp");
  const table = /kFunctions = \{([^}]*)\}/.exec(text);
  assert.ok(table, "src/sknd/syntax/parser_primary.cpp has no table of functions");
  return [...table[1].matchAll(/"(\w+)"/g)].map((match) => match[1]);
}

// The words of `syntax keyword` lines of a Vim file.
function vimWords(file) {
  const lines = read(file).split("\n").filter((line) => line.startsWith("syntax keyword "));
  return new Set(lines.flatMap((line) => line.split(/\s+/).slice(3)));
}

async function known(words, scope, context) {
  for (const word of words) {
    const tokens = await tokensOf(context(word), scope);
    const token = tokens.find((one) => one.text.trim() === word);
    assert.ok(token, `\`${word}\` is not a token of its own`);
    assert.match(token.scopes[token.scopes.length - 1], IS_WORD, `\`${word}\``);
  }
}

module.exports = [
  ["the grammar knows the keywords of SkriptND", () =>
    known(wordsOfTable("src/sknd/syntax/keywords.h"), "source.sknd", (word) => `(${word} )`)],
  ["the grammar knows `is` and `in`", () =>
    known(["is", "in"], "source.sknd", (word) => `a ${word} b`)],
  ["the grammar knows the blocks of SkriptND", () =>
    known(blocks(), "source.sknd", (word) => `${word} { }`)],
  ["the grammar knows the functions of SkriptND", () =>
    known(functions().map((name) => `\`${name}\``), "source.sknd", (word) => `${word}(x)`)],
  ["the grammar knows the keywords of NNEF 1.0", () =>
    known(wordsOfTable("src/nnef1/syntax/tokens.cpp"), "source.nnef", (word) => `(${word} )`)],
  ["Vim knows the keywords of SkriptND", () => {
    const words = vimWords("editors/vim/syntax/sknd.vim");
    for (const word of wordsOfTable("src/sknd/syntax/keywords.h")) {
      assert.ok(words.has(word), `syntax/sknd.vim does not know \`${word}\``);
    }
  }],
  ["Vim knows the blocks and functions of SkriptND", () => {
    const text = read("editors/vim/syntax/sknd.vim");
    for (const word of [...blocks().map((block) => block.slice(1)), ...functions()]) {
      assert.match(text, new RegExp(`\\b${word}\\b`), `syntax/sknd.vim does not know \`${word}\``);
    }
  }],
  ["Vim knows the keywords of NNEF 1.0", () => {
    const words = vimWords("editors/vim/syntax/nnef.vim");
    for (const word of wordsOfTable("src/nnef1/syntax/tokens.cpp")) {
      assert.ok(words.has(word), `syntax/nnef.vim does not know \`${word}\``);
    }
  }],
];
