// SPDX-License-Identifier: Apache-2.0
// Runs the tests: `node tests/run.mjs [--measure] [NAME…]`. NAME chooses files: unit, page, live, large,
// examples. The examples need the program: LEMMA, and LEMMA_SOURCE, the repository.
// --measure also prints the times of the large graph. The last line is `N passed, M failed`.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const chosen = process.argv.slice(2).filter((a) => !a.startsWith("--"));
if (process.argv.includes("--measure")) process.env.LEMMA_VIEWER_MEASURE = "1";
const files = readdirSync(here)
    .filter(
        (f) => f.endsWith(".test.mjs") && (!chosen.length || chosen.some((c) => f.startsWith(c))),
    )
    .map((f) => join(here, f));

if (!process.env.LEMMA && !chosen.length) {
    console.log("LEMMA is not set: without the pages of the examples");
    files.splice(0, files.length, ...files.filter((f) => !f.endsWith("examples.test.mjs")));
}

let passed = 0;
let failed = 0;
const isFile = (data) => data.name.endsWith(".mjs"); // older versions report the file as a test, too
const stream = run({ files, concurrency: 1, timeout: 600000 });
stream.on("test:pass", (data) => {
    if (isFile(data) || data.details?.type === "suite") return;
    passed++;
    console.log(`ok   ${data.name}`);
});
stream.on("test:fail", (data) => {
    if (data.details?.type === "suite" || (isFile(data) && failed > 0)) return;
    failed++;
    const error = data.details?.error;
    console.log(
        `FAIL ${data.name}\n     ${String(
            error?.cause?.stack ?? error?.cause ?? error?.message ?? error,
        )
            .split("\n")
            .slice(0, 12)
            .join("\n     ")}`,
    );
});
stream.on("test:stdout", (data) => process.stdout.write(data.message));
stream.on("test:stderr", (data) => process.stderr.write(data.message));
stream.on("test:diagnostic", () => {});
stream.resume();
stream.on("end", () => {
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed || !passed ? 1 : 0);
});
