// SPDX-License-Identifier: Apache-2.0
// The sources of the page as one module that node can import.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const kNames = [
    "normalise",
    "text",
    "family",
    "state",
    "search",
    "graph/items",
    "graph/visible",
    "graph/fast",
    "graph/nested",
    "graph/layout",
    "graph/measure",
    "graph/elk",
    "graph/hit",
    "graph/morph",
    "math/mathml",
    "overlays/overlays",
    "overlays/scale",
    "diff/diff",
];

export async function modules() {
    const outfile = join(mkdtempSync(join(tmpdir(), "lemma-viewer-")), "modules.mjs");
    const contents = kNames.map((n) => `export * from "./src/${n}";`).join("\n");
    await build({
        stdin: { contents, resolveDir: join(here, ".."), loader: "ts" },
        bundle: true,
        format: "esm",
        outfile,
        logLevel: "error",
    });
    return import(pathToFileURL(outfile).href);
}
