// SPDX-License-Identifier: Apache-2.0
// The pages of the site: the Markdown of the repository, the API reference, and the sources that pages
// link to.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, extname, join, posix } from "node:path";
import { apiPages } from "./api.mjs";
import { titleOf } from "./navigation.mjs";

const kLanguages = {
    ".sknd": "sknd",
    ".nnef": "nnef",
    ".py": "python",
    ".c": "c",
    ".h": "c",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".json": "json",
    ".txt": "text",
    ".test": "text",
    "": "text",
};
const kMaxSource = 100_000; // larger files are listed without a page

function markdownBelow(root, folder) {
    return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
        const path = posix.join(folder, entry.name);
        if (entry.isDirectory()) return markdownBelow(root, path);
        return entry.name.endsWith(".md") ? [path] : [];
    });
}

// docs/howto/serve.md → howto/serve.html, README.md → index.html
export function urlOf(source) {
    return source
        .replace(/^docs\//, "")
        .replace(/README\.md$/, "index.md")
        .replace(/^(CHANGELOG|CONTRIBUTING|SECURITY)\.md$/, (name) => name.toLowerCase())
        .replace(/\.md$/, ".html");
}

function decisionsIndex(root) {
    let text =
        "# Decisions\n\nWhy things are as they are: half a page for each choice that others might undo.\n\n";
    for (const file of readdirSync(join(root, "docs/decisions")).sort())
        text += `- [${titleOf(readFileSync(join(root, "docs/decisions", file), "utf8"), file)}](${file})\n`;
    return text;
}

export function collectPages(root) {
    const sources = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "editors/README.md",
        "editors/vim/README.md",
        "editors/vscode/README.md",
        "python/README.md",
        "tests/stdlib/README.md",
        ...readdirSync(join(root, "examples")).map((f) => `examples/${f}/README.md`),
        ...markdownBelow(root, "docs"),
    ].filter((s) => existsSync(join(root, s)));
    const pages = sources.map((source) => ({
        source,
        text: readFileSync(join(root, source), "utf8"),
    }));
    pages.push({ source: "docs/decisions/README.md", text: decisionsIndex(root) });
    for (const { path, text, group } of apiPages(root))
        pages.push({ source: `docs/${path}`, text, group });
    for (const page of pages) {
        page.url = urlOf(page.source);
        page.title = titleOf(page.text, page.source);
    }
    return pages.sort((a, b) => (a.source < b.source ? -1 : 1));
}

// ---- Sources -------------------------------------------------------------------------------------

// Pages for files and folders that other pages link to, and for the files in these folders.
export class Sources {
    constructor(root, pages) {
        this.root = root;
        this.pages = new Map(pages.map((p) => [p.source, p]));
        this.found = new Map();
    }
    // The address of what a link leads to; the page is made when it is first asked for.
    urlFor(path) {
        const clean = posix.normalize(path).replace(/\/$/, "");
        const page = this.pages.get(clean) ?? this.pages.get(posix.join(clean, "README.md"));
        if (page) return page.url;
        if (this.found.has(clean)) return this.found.get(clean)?.url;
        const full = join(this.root, clean);
        if (clean.startsWith("..") || !existsSync(full)) throw new Error(`no file \`${clean}\``);
        return statSync(full).isDirectory() ? this.addFolder(clean) : this.addFile(clean);
    }
    addFile(path) {
        const language = kLanguages[extname(path)];
        const size = statSync(join(this.root, path)).size;
        if (language === undefined || size > kMaxSource) {
            this.found.set(path, null);
            return undefined;
        }
        const code = readFileSync(join(this.root, path), "utf8");
        const fence = "`".repeat(
            Math.max(3, ...[...code.matchAll(/`+/g)].map((m) => m[0].length + 1)),
        );
        return this.add(
            path,
            `source/${path}.html`,
            `${fence}${language}\n${code.trimEnd()}\n${fence}\n`,
        );
    }
    addFolder(path) {
        this.found.set(path, { url: `source/${path}/index.html` });
        let text = "";
        for (const entry of readdirSync(join(this.root, path), { withFileTypes: true }).sort(
            (a, b) => (a.name < b.name ? -1 : 1),
        )) {
            if (entry.name === "__pycache__" || entry.name.startsWith(".")) continue;
            const name = entry.isDirectory() ? `${entry.name}/` : entry.name;
            const url = this.urlFor(posix.join(path, entry.name));
            text += url
                ? `- [\`${name}\`](${posix.join("/", path, entry.name)})\n`
                : `- \`${name}\`\n`;
        }
        return this.add(path, `source/${path}/index.html`, text || "Empty.\n");
    }
    add(path, url, body) {
        const page = {
            source: path,
            url,
            title: path,
            text: `# ${path}\n\n${body}`,
            section: "",
            isSource: true,
        };
        this.found.set(path, page);
        return url;
    }
    get made() {
        return [...this.found.values()].filter((p) => p?.text);
    }
}

export const folderOf = (source) => dirname(source);
