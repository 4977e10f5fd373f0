// SPDX-License-Identifier: Apache-2.0
// Markdown as HTML: highlighted code, links between pages, anchors as on a forge, formulas.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import MarkdownIt from "markdown-it";
import anchor from "markdown-it-anchor";
import { createCssVariablesTheme, createHighlighter } from "shiki";

export const slug = (text) =>
    text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, "")
        .trim()
        .replace(/ /g, "-");
export const escaped = (text) =>
    text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

const kAliases = { sh: "bash", shell: "bash", "": "text", txt: "text", yml: "yaml" };

function grammar(root, language) {
    const file = join(root, `editors/vscode/syntaxes/${language}.tmLanguage.json`);
    return { ...JSON.parse(readFileSync(file, "utf8")), name: language };
}

export async function loadHighlighter(root) {
    return createHighlighter({
        // One theme whose colours are variables: every text is read once, not once per theme.
        themes: [
            createCssVariablesTheme({ name: "lemma", variablePrefix: "--code-", fontStyle: false }),
        ],
        langs: [
            grammar(root, "sknd"),
            grammar(root, "nnef"),
            "json",
            "c",
            "cpp",
            "python",
            "bash",
            "lua",
            "diff",
            "cmake",
            "yaml",
            "toml",
            "vim",
            "xml",
            "javascript",
        ],
    });
}

// Commands behind `$ ` and their outputs.
function consoleHtml(code) {
    const lines = code
        .trimEnd()
        .split("\n")
        .map((line) =>
            line.startsWith("$ ")
                ? `<span class="prompt">$ </span><b>${escaped(line.slice(2))}</b>`
                : `<span class="output">${escaped(line)}</span>`,
        );
    return `<pre class="console"><code>${lines.join("\n")}</code></pre>`;
}

function codeHtml(highlighter, code, info) {
    const [word, ...rest] = info.trim().split(/\s+/);
    const language = kAliases[word] ?? word;
    const file = rest.find((r) => r.startsWith("file="))?.slice(5);
    const known = highlighter.getLoadedLanguages().includes(language);
    let html;
    if (language === "console" || (language === "text" && /^\$ /m.test(code)))
        html = consoleHtml(code);
    else if (!known || language === "text")
        html = `<pre class="plain"><code>${escaped(code)}</code></pre>`;
    else
        html = highlighter.codeToHtml(code.replace(/\n$/, ""), {
            lang: language,
            theme: "lemma",
            tokenizeTimeLimit: 0, // a busy machine gives the same pages
        });
    const label = file ?? "";
    return `<div class="code">${label ? `<span class="file">${escaped(label)}</span>` : ""}${html}</div>\n`;
}

// env.page is the page; resolve(page, path, hash) gives the address of a link.
export function makeMarkdown(highlighter, resolve) {
    const md = new MarkdownIt({ html: true, linkify: false, typographer: false });
    md.use(anchor, {
        slugify: slug,
        permalink: anchor.permalink.linkInsideHeader({
            symbol: "#",
            placement: "after",
            ariaHidden: true,
            class: "anchor",
        }),
    });
    md.renderer.rules.fence = (tokens, i) =>
        codeHtml(highlighter, tokens[i].content, tokens[i].info);
    md.renderer.rules.code_block = (tokens, i) => codeHtml(highlighter, tokens[i].content, "");
    md.renderer.rules.table_open = () => '<div class="table"><table>\n';
    md.renderer.rules.table_close = () => "</table></div>\n";
    md.core.ruler.push("links", (state) => {
        const visit = (tokens) => {
            for (const token of tokens) {
                for (const name of ["href", "src"]) {
                    const value = token.attrGet(name);
                    if (
                        value !== null &&
                        token.type !== "html_inline" &&
                        !token.meta?.isPermalinkSymbol
                    )
                        rewrite(token, name, value, state.env.lemma, resolve);
                }
                if (token.children) visit(token.children);
            }
        };
        visit(state.tokens);
    });
    return md;
}

function rewrite(token, name, value, page, resolve) {
    if (/^[a-z]+:/.test(value) || value.startsWith("#")) {
        if (/^https?:/.test(value)) token.attrSet("rel", "noopener");
        return;
    }
    const [path, hash] = value.split("#");
    const address = resolve(page, decodeURI(path), name === "src");
    if (address === undefined) token.attrs = token.attrs.filter(([n]) => n !== name);
    else token.attrSet(name, address + (hash === undefined ? "" : `#${hash}`));
}

// From one address of the site to another.
export function relative(from, to) {
    const path = posix.relative(posix.dirname(from), to);
    return path || posix.basename(to);
}
