// SPDX-License-Identifier: Apache-2.0
// The API reference as Markdown pages, from the comments of the headers and the docstrings of the
// Python package.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { introduction, itemsOf, membersOf, naming, publicPart, withoutBody } from "./headers.mjs";

const slug = (text) =>
    text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, "")
        .trim()
        .replace(/ /g, "-");

// Text of a comment as Markdown. Names of the API become links.
function prose(comment, links) {
    const linked = (text) =>
        text.replace(/\b(lemma_\w+)(\(\))?|docs\/([\w/-]+\.md)/g, (all, name, _, page) => {
            if (page) return `[${all}](../../${page})`;
            return links.has(name) ? `[\`${name}\`](${links.get(name)})` : `\`${name}\``;
        });
    const plain = (text) => linked(text.replace(/[*<\\]/g, "\\$&"));
    const quoted = (text) => (links.has(text.slice(1, -1)) ? linked(text.slice(1, -1)) : text);
    return comment
        .split(/(`[^`]*`)/)
        .map((part, i) => (i % 2 ? quoted(part) : plain(part)))
        .join("")
        .replace(/^(\w+)\.\s{2,}/gm, "\n**$1.** ")
        .replace(/^ {4,}/gm, "");
}
const sentence = (comment) => {
    const text = comment.replace(/\s+/g, " ").trim();
    return /^(.*?[.:])(?:\s|$)/.exec(text)?.[1] ?? text;
};
const cell = (text) => text.replace(/\|/g, "\\|");
const code = (language, text) => `\`\`\`${language}\n${text}\n\`\`\`\n\n`;
const note = (file) => `<p class="from">From <code>${file}</code></p>\n\n`;

// ---- C -------------------------------------------------------------------------------------------

// Without the mark of exported functions; the lines below move with the first.
const exported = (text) =>
    text.startsWith("LEMMA_API ") ? text.replace(/^LEMMA_API /, "").replace(/^ {10}/gm, "") : text;

function cPage(root, header, links) {
    const text = readFileSync(join(root, "include/lemma", header), "utf8");
    let page = `# lemma/${header}\n\n${note(`include/lemma/${header}`)}`;
    page += `${prose(introduction(text).replace(/^lemma\/\w+\.h: ?/, ""), links).replace(/^./, (c) => c.toUpperCase())}\n\n`;
    const toc = [];
    for (const item of itemsOf(publicPart(text))) {
        if (item.section) {
            page += `## ${item.section}\n\n`;
            continue;
        }
        const { kind, name } = naming(item.code);
        if (!name) continue;
        page += `### ${name}\n\n${code("c", exported(item.code))}`;
        if (item.comment) page += `${prose(item.comment, links)}\n\n`;
        toc.push({ kind, name, about: sentence(item.comment) });
    }
    return { page, names: toc };
}

function cNames(root, header) {
    const text = readFileSync(join(root, "include/lemma", header), "utf8");
    return itemsOf(publicPart(text))
        .filter((i) => i.code)
        .map((i) => naming(i.code).name);
}

function cPages(root) {
    const links = new Map();
    for (const header of ["lemma.h", "tools.h"])
        for (const name of cNames(root, header)) links.set(name, `${header}.md#${slug(name)}`);
    return ["lemma.h", "tools.h"].map((header) => ({
        path: `api/c/${header}.md`,
        ...cPage(root, header, links),
    }));
}

// ---- C++ -----------------------------------------------------------------------------------------

function cppClass(item, name, links, header) {
    const members = membersOf(item.code);
    const methods = members.filter((m) => m.kind === "function");
    let page = `# lemma::${name}\n\n${note(`include/lemma/${header}`)}`;
    if (item.comment) page += `${prose(item.comment, links)}\n\n`;
    const head = item.code.slice(0, item.code.indexOf("{")).trim();
    const synopsis = members.map((m) => indented(m)).join("\n");
    page += code("cpp", `${head} {\n${synopsis}\n};`);
    // A comment is also about the methods right below it.
    methods.forEach((method, i) => {
        if (!method.comment) return;
        let shown = dedented(method.code);
        for (let j = i + 1; methods[j]?.joined && !methods[j].comment; j++)
            shown += `\n${dedented(methods[j].code)}`;
        page += `## ${method.name}\n\n${code("cpp", shown)}${prose(method.comment, links)}\n\n`;
    });
    return page;
}
const dedented = (text) => text.replace(/^ {4}/gm, "");
function indented(member) {
    const about = member.kind === "function" ? "" : member.comment.replace(/\n/g, " ");
    return `    ${member.code}${about ? `  // ${about}` : ""}`;
}

function cppPages(root) {
    const pages = [];
    const small = [];
    for (const header of ["lemma.hpp", "tensor.hpp"]) {
        const text = readFileSync(join(root, "include/lemma", header), "utf8");
        for (const item of itemsOf(publicPart(text))) {
            if (!item.code || /^(struct|class) \w+;$/.test(item.code)) continue;
            const { kind, name } = naming(item.code);
            const special = /^template <>|\w+<[^>]*> :/.test(item.code) || !name;
            const isClass = /^(class|struct)$/.test(kind) && item.code.includes("{");
            if (special) continue;
            if (isClass && membersOf(item.code).some((m) => m.kind === "function"))
                pages.push({
                    path: `api/cpp/${name}.md`,
                    name,
                    kind,
                    about: sentence(item.comment),
                    page: cppClass(item, name, new Map(), header),
                });
            else small.push({ name, kind, item, header });
        }
    }
    let page =
        "# Types and functions of C++\n\nThe smaller types of `lemma/lemma.hpp` and `lemma/tensor.hpp`.\n\n";
    for (const { name, item } of small)
        page += `## ${name}\n\n${item.comment ? `${prose(item.comment, new Map())}\n\n` : ""}${code("cpp", withoutBody(item.code))}`;
    const names = small.map(({ name, kind, item }) => ({
        name,
        kind,
        about: sentence(item.comment),
    }));
    return { pages, small: { path: "api/cpp/types.md", page, names } };
}

// ---- Python --------------------------------------------------------------------------------------

// Examples behind `>>>` become code.
function docText(doc) {
    const out = [];
    let block = null;
    for (const line of doc.split("\n")) {
        const example = /^\s*>>> /.test(line) || (block && line.trim());
        if (example && !block) out.push((block = "```python"));
        if (!example && block) {
            out.push("```");
            block = null;
        }
        out.push(line);
    }
    if (block) out.push("```");
    return out.join("\n");
}

function pythonPage(module, item) {
    const name = `${module}.${item.name}`;
    const head = `# ${name}\n\n${note(`python/lemma, module ${module}`)}`;
    let page = head + code("python", item.signature) + (item.doc ? `${docText(item.doc)}\n\n` : "");
    const fields = item.members.filter((m) => m.kind === "field");
    const rest = item.members.filter((m) => m.kind !== "field");
    if (fields.length) {
        page += "## Fields\n\n| field | meaning |\n|---|---|\n";
        for (const f of fields) page += `| \`${cell(f.signature)}\` | ${cell(f.doc)} |\n`;
        page += "\n";
    }
    for (const member of rest) {
        const shown = member.name === "__call__" ? "Calling it" : member.name;
        page += `## ${shown}\n\n${code("python", member.signature)}${docText(member.doc)}\n\n`;
    }
    return page;
}

function pythonPages(root) {
    const script = join(
        import.meta.dirname ?? new URL(".", import.meta.url).pathname,
        "python_api.py",
    );
    const text = execFileSync("python3", [script, join(root, "python/lemma")], {
        encoding: "utf8",
    });
    return JSON.parse(text).map(({ name, doc, items }) => ({
        name,
        doc,
        pages: items.map((item) => ({
            path: `api/python/${name}.${item.name}.md`,
            name: item.name,
            kind: item.kind,
            about: sentence(item.doc),
            page: pythonPage(name, item),
        })),
    }));
}

// ---- All -----------------------------------------------------------------------------------------

const row = (link, kind, about) => `| ${link} | ${kind} | ${cell(about)} |\n`;
const table = "| name | kind | |\n|---|---|---|\n";

function indexPage(c, cpp, python) {
    let page =
        "# API reference\n\nWritten from the comments of the headers and the docstrings of the Python package.\n" +
        "[Use the library](../howto/use-the-library.md) and [Use Lemma from Python](../howto/use-from-python.md)\n" +
        "are introductions, [the interface of the library](../abi.md) has the rules of its versions.\n\n";
    page += "## Python\n\n";
    for (const module of python) {
        page += `### ${module.name}\n\n${table}`;
        for (const p of module.pages)
            page += row(`[\`${p.name}\`](${p.path.slice(4)})`, p.kind, p.about);
        page += "\n";
    }
    page += `## C++\n\n${table}`;
    for (const p of cpp.pages) page += row(`[\`${p.name}\`](${p.path.slice(4)})`, p.kind, p.about);
    for (const n of cpp.small.names)
        page += row(`[\`${n.name}\`](cpp/types.md#${slug(n.name)})`, n.kind, n.about);
    page += "\n## C\n\n";
    for (const p of c) {
        page += `### [lemma/${p.path.slice(6, -3)}](${p.path.slice(4)})\n\n${table}`;
        for (const n of p.names)
            page += row(`[\`${n.name}\`](${p.path.slice(4)}#${slug(n.name)})`, n.kind, n.about);
        page += "\n";
    }
    return page;
}

// { path, text, group } of each page, below docs/.
export function apiPages(root) {
    const c = cPages(root);
    const cpp = cppPages(root);
    const python = pythonPages(root);
    return [
        { path: "api/README.md", text: indexPage(c, cpp, python), group: "" },
        ...python.flatMap((m) =>
            m.pages.map((p) => ({ path: p.path, text: p.page, group: "Python" })),
        ),
        ...[...cpp.pages, cpp.small].map((p) => ({ path: p.path, text: p.page, group: "C++" })),
        ...c.map((p) => ({ path: p.path, text: p.page, group: "C" })),
    ];
}
