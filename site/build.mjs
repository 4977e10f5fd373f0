// SPDX-License-Identifier: Apache-2.0
// Builds the site: `node build.mjs --root REPOSITORY --out DIR`. Fails if a link of the documents leads
// nowhere or the formula of an operator cannot be drawn.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import Eleventy from "@11ty/eleventy";
import { build } from "esbuild";
import { searchIndex } from "./lib/search.mjs";
import { loadSite } from "./lib/site.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const option = (name, otherwise) => {
    const at = process.argv.indexOf(name);
    return resolve(at > 0 ? process.argv[at + 1] : otherwise);
};
const root = option("--root", join(here, ".."));
const out = option("--out", join(here, "dist"));
const began = Date.now();

const site = await loadSite(root);
site.byUrl = new Map([...site.pages.values()].map((p) => [p.url, p]));
const problems = [...new Set(site.broken), ...site.failed.map((f) => `no formula: ${f}`)];
if (problems.length) {
    console.error(problems.join("\n"));
    process.exit(1);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "assets"), { recursive: true });
process.chdir(here); // Eleventy takes paths from here
const eleventy = new Eleventy("theme", relative(here, out), {
    configPath: "eleventy.config.mjs",
    quietMode: true,
});
await eleventy.write();

await build({
    entryPoints: [join(here, "theme/page.js"), join(here, "theme/style.css")],
    bundle: true,
    minify: true,
    target: ["es2021", "chrome109", "firefox115", "safari16"],
    format: "iife",
    loader: { ".woff2": "file" },
    assetNames: "[name]",
    outdir: join(out, "assets"),
    logLevel: "warning",
});
copyFileSync(join(here, "theme/icon.svg"), join(out, "assets/icon.svg"));
writeFileSync(join(out, "assets/search-index.js"), searchIndex([...site.pages.values()]));
const formulas = [...site.pages.values()].filter((p) => p.html.includes('class="formula"')).length;
const size = readFileSync(join(out, "assets/search-index.js")).length;
console.log(
    `${out}: ${site.pages.size} pages, ${formulas} operators with formulas, index of ${(size / 1e6).toFixed(2)} MB, ${((Date.now() - began) / 1000).toFixed(1)} s`,
);
