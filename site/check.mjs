// SPDX-License-Identifier: Apache-2.0
// Checks a built site: `node check.mjs DIR`. Every address in it leads to a file of the site, every
// anchor to an id, and no page has an id twice. Prints what is wrong.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const kTag = /<!--[\s\S]*?-->|<(script|style)\b[^>]*>[\s\S]*?<\/\1>|<[a-zA-Z][^>]*>/g;
const kAttribute = /\s(href|src|id|srcset|poster|action)="([^"]*)"/g;
const plain = (text) =>
    text
        .replace(/&quot;/g, '"')
        .replace(/&lt;/g, "<")
        .replace(/&gt;/g, ">")
        .replace(/&amp;/g, "&");

function filesBelow(folder) {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

function readPage(file) {
    const page = { ids: new Set(), links: [], twice: [] };
    for (const [tag] of readFileSync(file, "utf8").matchAll(kTag)) {
        if (tag.startsWith("<!--")) continue;
        const head = /^<[^>]*>/.exec(tag)[0];
        for (const [, name, value] of head.matchAll(kAttribute)) {
            if (name !== "id") page.links.push(plain(value));
            else if (page.ids.has(value)) page.twice.push(plain(value));
            else page.ids.add(plain(value));
        }
    }
    return page;
}

// What is wrong with a link, or nothing.
function fault(root, file, link, pages) {
    if (/^(https?|mailto):/.test(link)) return "";
    if (/^[a-z]+:/i.test(link)) return `an address of another kind: ${link}`;
    if (link.startsWith("/")) return `${link} does not work below another folder`;
    const [path, hash] = link.split("#").map(decodeURIComponent);
    let target = path ? resolve(dirname(file), path) : file;
    if (relative(root, target).startsWith("..")) return `${link} leads out of the site`;
    if (existsSync(target) && statSync(target).isDirectory()) target = join(target, "index.html");
    if (!existsSync(target)) return `${link} leads nowhere`;
    if (hash && !pages.get(target)?.ids.has(hash)) return `${link}: there is no such anchor`;
    return "";
}

export function checkSite(folder) {
    const root = resolve(folder);
    const files = filesBelow(root).filter((f) => f.endsWith(".html"));
    const pages = new Map(files.map((file) => [file, readPage(file)]));
    const faults = [];
    let links = 0;
    for (const [file, page] of pages) {
        const name = relative(root, file);
        for (const id of page.twice) faults.push(`${name}: the id \`${id}\` is there twice`);
        for (const link of page.links) {
            links++;
            const wrong = fault(root, file, link, pages);
            if (wrong) faults.push(`${name}: ${wrong}`);
        }
    }
    return { pages: pages.size, links, faults: [...new Set(faults)] };
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
    const { pages, links, faults } = checkSite(process.argv[2]);
    for (const each of faults.slice(0, 200)) console.log(each);
    console.log(`${links} links in ${pages} pages, ${faults.length} wrong`);
    process.exit(faults.length || !pages ? 1 : 0);
}
