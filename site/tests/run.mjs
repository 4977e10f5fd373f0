// SPDX-License-Identifier: Apache-2.0
// Tests of the site: `node tests/run.mjs DIR`, the folder of a built one. The last line is
// `N passed, M failed`. LEMMA_SITE_SHOTS names a folder for pictures of the pages.
import { dirname, join, resolve } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
process.env.LEMMA_SITE = resolve(process.argv[2] ?? join(here, "../dist"));
let passed = 0;
let failed = 0;
const isFile = (data) => data.name.endsWith(".mjs"); // older versions report the file as a test, too
const files = ["unit.test.mjs", "browser.test.mjs"].map((f) => join(here, f));
const stream = run({ files, concurrency: 1, timeout: 600000 });
stream.on("test:pass", (data) => {
    if (isFile(data)) return;
    passed++;
    console.log(`ok   ${data.name}`);
});
stream.on("test:fail", (data) => {
    if (isFile(data) && failed > 0) return;
    failed++;
    const error = data.details?.error;
    const text = String(error?.cause?.stack ?? error?.cause ?? error?.message ?? error);
    console.log(`FAIL ${data.name}\n     ${text.split("\n").slice(0, 12).join("\n     ")}`);
});
stream.on("test:stderr", (data) => process.stderr.write(data.message));
stream.on("test:diagnostic", () => {});
stream.resume();
stream.on("end", () => {
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed || !passed ? 1 : 0);
});
