// SPDX-License-Identifier: Apache-2.0
// What pages do in the browser: theme, navigation on small screens, search, copying of code.
import MiniSearch from "minisearch";
import { kOptions } from "../lib/search.mjs";

const root = document.documentElement;
const base = root.dataset.base;
const find = (selector, from = document) => from.querySelector(selector);

// ---- Theme and navigation ------------------------------------------------------------------------

find("button.theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
        localStorage.setItem("lemma-theme", root.dataset.theme);
    } catch {
        // Without storage, the choice lasts as long as the page.
    }
});

const menu = find("button.menu");
const openMenu = (open) => {
    document.body.classList.toggle("menu-open", open);
    menu.setAttribute("aria-expanded", String(open));
};
menu.addEventListener("click", () => openMenu(!document.body.classList.contains("menu-open")));
find("main").addEventListener("click", () => openMenu(false));
const here = find("nav.sections [aria-current]");
if (here) {
    const nav = find("nav.sections");
    nav.scrollTop = here.offsetTop - nav.offsetTop - nav.clientHeight / 2;
}

// The heading that is being read is marked in the contents.
const places = [...document.querySelectorAll("nav.contents a")];
if (places.length) {
    const byId = new Map(places.map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
    const headings = [...document.querySelectorAll("article h2[id], article h3[id]")].filter((h) =>
        byId.has(h.id),
    );
    const mark = () => {
        let current = headings[0];
        for (const h of headings) if (h.getBoundingClientRect().top < 120) current = h;
        for (const a of places) a.classList.toggle("current", a === byId.get(current?.id));
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
}

// ---- Code ----------------------------------------------------------------------------------------

const commands = (pre) =>
    pre.classList.contains("console")
        ? [...pre.querySelectorAll("b")].map((b) => b.textContent).join("\n")
        : pre.textContent;
for (const block of document.querySelectorAll("div.code")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
        try {
            await navigator.clipboard.writeText(commands(find("pre", block)));
            button.textContent = "Copied";
        } catch {
            button.textContent = "Not allowed";
        }
        setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
}

// ---- Search --------------------------------------------------------------------------------------

const dialog = find("dialog.search");
const input = find("input", dialog);
const list = find("ol", dialog);
let index = null;

function loadIndex() {
    index ??= new Promise((done, fail) => {
        const script = document.createElement("script");
        script.src = `${base}assets/search-index.js`;
        script.onload = () => done(MiniSearch.loadJSON(window.lemmaSearchIndex, kOptions));
        script.onerror = () => fail(new Error("the index of the search cannot be loaded"));
        document.head.append(script);
    });
    return index;
}

const kSearch = {
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: "AND",
    boost: { title: 4, name: 6 },
    boostDocument: (_, __, stored) =>
        (stored.url.includes("#") ? 0.6 : 1.2) * (stored.section === "Start" ? 0.7 : 1),
};

function result(hit, first) {
    const item = document.createElement("li");
    const a = document.createElement("a");
    a.href = base + hit.url;
    if (first) a.classList.add("chosen");
    const title = document.createElement("b");
    title.textContent = hit.title;
    const where = document.createElement("span");
    const parts = [hit.section, hit.title === hit.page ? "" : hit.page];
    where.textContent = [...new Set(parts.filter(Boolean))].join(" · ");
    a.append(title, where);
    item.append(a);
    return item;
}

async function show() {
    const words = input.value.trim();
    const hits = words ? (await loadIndex()).search(words, kSearch).slice(0, 12) : [];
    if (words !== input.value.trim()) return;
    list.replaceChildren(...hits.map((hit, i) => result(hit, i === 0)));
    dialog.classList.toggle("nothing", words !== "" && !hits.length);
}

function openSearch() {
    openMenu(false);
    dialog.showModal();
    input.select();
    loadIndex().catch(() => {});
}
find("button.search").addEventListener("click", openSearch);
input.addEventListener("input", show);
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
list.addEventListener("click", () => dialog.close());
find("form", dialog).addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = find("a.chosen", list);
    if (!chosen) return;
    dialog.close();
    location.href = chosen.href;
});
input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...list.querySelectorAll("a")];
    const at = all.findIndex((a) => a.classList.contains("chosen"));
    all[at]?.classList.remove("chosen");
    const next = all[(at + step + all.length) % all.length];
    next?.classList.add("chosen");
    next?.scrollIntoView({ block: "nearest" });
});
addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    const wanted =
        (event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey));
    if (!wanted || dialog.open) return;
    event.preventDefault();
    openSearch();
});
