// SPDX-License-Identifier: Apache-2.0
// Bundles the page into one HTML file: `node build.mjs [--out DIR]` writes DIR/viewer.html.
// The file needs no network. `lemma` puts the document and the token into it.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const at = process.argv.indexOf("--out");
const out = resolve(at > 0 ? process.argv[at + 1] : join(here, "dist"));

async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, entry)],
        bundle: true,
        minify: true,
        write: false,
        format: "iife",
        target: "es2021",
        charset: "utf8",
        legalComments: "none",
        absWorkingDir: here,
        define: { "process.env.NODE_ENV": '"production"' },
        logLevel: "warning",
    });
    return result.outputFiles[0].text;
}

// A script element ends at the first `</script`; a string may be written in another way.
const inScript = (text) =>
    text
        .replace(/<\/(script)/gi, "<\\/$1")
        .replace(/<!--/g, "<\\!--")
        .trim();
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const main = inScript(await bundle("src/main.ts"));
const layout = inScript(await bundle("src/graph/layout_worker.ts"));
const elk = inScript(readFileSync(join(here, "node_modules/elkjs/lib/elk-worker.min.js"), "utf8"));
const style = (
    await build({
        entryPoints: [join(here, "src/theme.css")],
        bundle: true,
        minify: true,
        write: false,
        logLevel: "warning",
    })
).outputFiles[0].text.trim();
const policy = [
    "default-src 'none'",
    `script-src ${hash(main)} blob:`,
    `style-src ${hash(style)}`,
    "worker-src blob:",
    "img-src data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
].join("; ");

const parts = { policy, style, main, layout, elk };
const html = readFileSync(join(here, "src/page.html"), "utf8").replace(
    /\{\{(\w+)\}\}/g,
    (_, name) => parts[name],
);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "viewer.html"), html);
console.log(
    `${join(out, "viewer.html")}: ${(html.length / 1e6).toFixed(2)} MB, of which ELK ${(elk.length / 1e6).toFixed(2)} MB, the page ${(main.length / 1e3).toFixed(0)} kB`,
);
