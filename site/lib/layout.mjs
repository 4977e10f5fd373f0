// SPDX-License-Identifier: Apache-2.0
// The frame of a page: header, navigation, contents, footer. All addresses are relative, so the site
// works in any folder of a server and from files.
import { escaped, relative } from "./markdown.mjs";

const kIcons = {
    menu: '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5.5h14M3 10h14M3 14.5h14"/></svg>',
    search: '<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="8.5" cy="8.5" r="5"/><path d="m12.5 12.5 4.5 4.5"/></svg>',
    theme: '<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="6.5"/><path d="M10 3.5a6.5 6.5 0 0 1 0 13z" class="half"/></svg>',
};
const kLogo =
    '<svg class="logo" viewBox="0 0 28 28" aria-hidden="true"><rect x="1" y="1" width="26" height="26" rx="7"/><path d="M9 7.2c2.6 0 3.4 1.3 4.2 3.3l4 10.3M13.9 12.6 9.2 20.8"/></svg>';

const link = (page, to, text, more = "") =>
    `<a href="${relative(page.url, to.url)}"${to === page ? ' aria-current="page"' : ""}${more}>${escaped(text)}</a>`;

function groupHtml(page, group) {
    const items = group.pages.map((p) => `<li>${link(page, p, p.short)}</li>`).join("");
    if (!group.name) return `<ul>${items}</ul>`;
    // Only the open group has its pages in it: 169 operators in every page would be too much.
    if (!group.pages.includes(page))
        return `<p class="group">${link(page, group.pages[0], group.name)}<span>${group.pages.length}</span></p>`;
    return `<p class="group open">${escaped(group.name)}</p><ul>${items}</ul>`;
}

function sectionHtml(site, page, section) {
    if (!section.pages.length) return "";
    const head = `<a href="${relative(page.url, section.pages[0].url)}">${escaped(section.name)}</a>`;
    if (section.name !== page.section) return `<section><h2>${head}</h2></section>`;
    return `<section class="open"><h2>${head}</h2>${section.groups.map((g) => groupHtml(page, g)).join("")}</section>`;
}

// Second and third headings; long lists have second ones only.
function contents(html) {
    const found = [...html.matchAll(/<h([23]) id="([^"]*)"[^>]*>([\s\S]*?)<\/h\1>/g)];
    const shown = found.length > 40 ? found.filter((h) => h[1] === "2") : found;
    if (shown.length < 2) return "";
    const items = shown.map(([, level, id, inner]) => {
        const text = inner
            .replace(/<a class="anchor"[\s\S]*?<\/a>/, "")
            .replace(/<\/?a\b[^>]*>/g, "")
            .trim();
        return `<li class="level${level}"><a href="#${id}">${text}</a></li>`;
    });
    return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}

function around(page) {
    const side = (to, name, words) =>
        to
            ? `<a class="${name}" href="${relative(page.url, to.url)}"><span>${words}</span>${escaped(to.short)}</a>`
            : "<span></span>";
    if (page.isSource || !page.section) return "";
    return `<nav class="around" aria-label="Neighbours">${side(page.previous, "previous", "Previous")}${side(page.next, "next", "Next")}</nav>`;
}

function hero(site, page) {
    const to = (source) => relative(page.url, site.pages.get(source).url);
    return `<div class="buttons"><a class="main" href="#install">Install</a><a href="${to("docs/language/tutorial/README.md")}">Tutorial</a><a href="${to("docs/operators/README.md")}">Operators</a><a href="${to("docs/api/README.md")}">API</a></div>`;
}

export function frame(site, page, html) {
    const base = relative(page.url, "index.html").replace(/index\.html$/, "");
    const isFront = page.url === "index.html";
    const content = isFront ? html.replace("</p>", `</p>${hero(site, page)}`) : html;
    const title = isFront ? "Lemma" : `${page.title} · Lemma`;
    const nav = site.sections.map((s) => sectionHtml(site, page, s)).join("");
    return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="${base}assets/icon.svg">
<link rel="stylesheet" href="${base}assets/style.css">
<script>try{document.documentElement.dataset.theme=localStorage.getItem("lemma-theme")??(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light")}catch{document.documentElement.dataset.theme="light"}</script>
<script src="${base}assets/page.js" defer></script>
</head>
<body${isFront ? ' class="front"' : ""}>
<a class="skip" href="#content">Skip to the text</a>
<header>
<button class="menu" aria-label="Navigation" aria-expanded="false">${kIcons.menu}</button>
<a class="home" href="${relative(page.url, "index.html")}">${kLogo}Lemma<span>${site.version}</span></a>
<button class="search" aria-label="Search">${kIcons.search}<span>Search</span><kbd>/</kbd></button>
<button class="theme" aria-label="Dark or light">${kIcons.theme}</button>
</header>
<div class="page">
<nav class="sections" aria-label="Sections">${nav}</nav>
<main id="content"><article>
${content}
</article>${around(page)}
<footer>Lemma ${site.version}, free software under the <a href="${relative(page.url, site.sources.urlFor("LICENSE"))}">Apache License 2.0</a></footer>
</main>
${contents(html)}
</div>
<dialog class="search"><form method="dialog"><label>${kIcons.search}<input type="search" placeholder="Operators, errors, commands, …" aria-label="Search" autocomplete="off" spellcheck="false"></label></form><ol></ol><p>Enter opens, arrows choose, Esc closes.</p></dialog>
</body>
</html>
`;
}
