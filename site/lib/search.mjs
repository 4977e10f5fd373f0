// SPDX-License-Identifier: Apache-2.0
// The index of the search: an entry for each page and each heading. The browser loads it as a
// script, so that the search also works without a server.
import MiniSearch from "minisearch";

export const kOptions = {
    fields: ["title", "name", "text"],
    storeFields: ["title", "page", "url", "section"],
};
const kMaxText = 4000; // of an entry; tables of thousands of lines would fill the index

const plain = (html) =>
    html
        .replace(/<div class="code">[\s\S]*?<\/pre><\/div>/g, " ")
        .replace(/<math[\s\S]*?<\/math>/g, " ")
        .replace(/<a class="anchor"[\s\S]*?<\/a>/g, "")
        .replace(/<[^>]*>/g, " ")
        .replace(/&lt;/g, "<")
        .replace(/&gt;/g, ">")
        .replace(/&quot;/g, '"')
        .replace(/&amp;/g, "&")
        .replace(/\s+/g, " ")
        .trim();

function entriesOf(page) {
    const parts = page.html.split(/(?=<h[1-3] id=")/);
    return parts.flatMap((part) => {
        const heading = /^<h([1-3]) id="([^"]*)"[^>]*>([\s\S]*?)<\/h\1>/.exec(part);
        if (!heading) return [];
        const title = plain(heading[3]);
        const isPage = heading[1] === "1";
        if (!isPage && /^docs\/operators\//.test(page.source)) return [];
        const text = plain(part.slice(heading[0].length)).slice(0, kMaxText);
        return [
            {
                title,
                page: page.title,
                name: isPage ? page.title.replace(/[._-]/g, " ") : "",
                url: isPage ? page.url : `${page.url}#${heading[2]}`,
                section: page.section,
                text,
            },
        ];
    });
}

export function searchIndex(pages) {
    const index = new MiniSearch(kOptions);
    const entries = pages.filter((p) => !p.isSource).flatMap(entriesOf);
    index.addAll(entries.map((entry, id) => ({ id, ...entry })));
    return `window.lemmaSearchIndex=${JSON.stringify(JSON.stringify(index))};`;
}
