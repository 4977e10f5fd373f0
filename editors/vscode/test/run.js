// SPDX-License-Identifier: Apache-2.0
// run.js — runs all tests of this folder and ends with `N passed, M failed`.
"use strict";

const tests = [
  ...require("./grammar_test"),
  ...require("./keywords_test"),
  ...require("./extension_test"),
  ...require("./package_test"),
];

async function main() {
  let failed = 0;
  for (const [name, test] of tests) {
    try {
      await test();
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}\n    ${String(error.message).split("\n").join("\n    ")}`);
    }
  }
  console.log(`${tests.length - failed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

main();
