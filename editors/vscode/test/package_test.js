// SPDX-License-Identifier: Apache-2.0
// package_test.js — package.json names files that exist, and commands and settings that are used.
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { load } = require("./stub");

const FOLDER = path.resolve(__dirname, "..");
const PACKAGE = JSON.parse(fs.readFileSync(path.join(FOLDER, "package.json"), "utf8"));
const sources = fs.readdirSync(path.join(FOLDER, "src"))
  .map((name) => fs.readFileSync(path.join(FOLDER, "src", name), "utf8")).join("\n");

module.exports = [
  ["the files of package.json exist", () => {
    const { languages, grammars, snippets } = PACKAGE.contributes;
    const files = [PACKAGE.main, ...languages.map((language) => language.configuration),
                   ...[...grammars, ...snippets].map((entry) => entry.path)];
    for (const file of files) assert.ok(fs.existsSync(path.join(FOLDER, file)), file);
  }],
  ["JSON files are JSON", () => {
    for (const file of ["language-configuration.json", "snippets/sknd.json"]) {
      JSON.parse(fs.readFileSync(path.join(FOLDER, file), "utf8"));
    }
  }],
  ["every command has an action, and every action a command", async () => {
    const { extension, seen } = load({});
    await extension.activate({ subscriptions: [] });
    const declared = PACKAGE.contributes.commands.map((entry) => entry.command).sort();
    assert.deepStrictEqual([...seen.commands.keys()].sort(), declared);
    const types = PACKAGE.contributes.customEditors.map((entry) => entry.viewType);
    assert.deepStrictEqual([...seen.editors.keys()], types);
  }],
  ["every setting is read and documented", () => {
    const readme = fs.readFileSync(path.join(FOLDER, "README.md"), "utf8");
    for (const name of Object.keys(PACKAGE.contributes.configuration.properties)) {
      assert.ok(readme.includes(`\`${name}\``), `README.md does not mention ${name}`);
      if (name === "lemma.trace.server") continue;  // the language client reads it
      assert.ok(sources.includes(`values.get("${name.slice(6)}"`), `nothing reads ${name}`);
    }
  }],
  ["the lock file names no registry", () => {
    const lock = fs.readFileSync(path.join(FOLDER, "package-lock.json"), "utf8");
    assert.ok(!lock.includes('"resolved"'));
  }],
];
