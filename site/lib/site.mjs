// SPDX-License-Identifier: Apache-2.0
// The site as one value: pages, navigation and the tools that render them. The configuration of
// Eleventy and the layout share it.
import { join, posix } from "node:path";
import { loadHighlighter, makeMarkdown, relative } from "./markdown.mjs";
import { loadDrawing } from "./mathml.mjs";
import { navigation, version } from "./navigation.mjs";
import { isOperator, withFormula } from "./operator.mjs";
import { collectPages, Sources } from "./pages.mjs";

export const site = {
    pages: new Map(),
    sections: [],
    version: "",
    broken: [],
    images: new Map(),
    failed: [],
};

// The address of a link from a page, or nothing if what it leads to has no page.
function resolve(page, path, isImage) {
    const target = path.startsWith("/")
        ? path.slice(1)
        : posix.join(posix.dirname(page.source), path);
    const image = /^docs\/(images\/[\w.-]+)$/.exec(target);
    if (image) {
        site.images.set(join(site.root, target), image[1]);
        return relative(page.url, image[1]);
    }
    try {
        if (isImage) throw new Error(`no image \`${target}\``);
        const url = site.sources.urlFor(target);
        return url && relative(page.url, url);
    } catch (error) {
        site.broken.push(`${page.source}: the link leads to \`${path}\`: ${error.message}`);
        return path;
    }
}

export async function loadSite(root) {
    site.root = root;
    site.version = version(root);
    const pages = collectPages(root);
    site.sections = navigation(pages);
    const known = new Set(pages.map((p) => p.source));
    const draw = await loadDrawing(root);
    for (const page of pages)
        if (isOperator(page)) page.text = withFormula(page, draw, known, site.failed);
    site.pages = new Map(pages.map((p) => [p.source, p]));
    site.sources = new Sources(root, pages);
    const md = makeMarkdown(await loadHighlighter(root), resolve);
    // Links decide which sources have pages, so all pages are rendered before Eleventy writes them.
    for (const page of pages) page.html = md.render(page.text, { lemma: page });
    for (let made = []; made.length < site.sources.made.length;) {
        made = [...site.sources.made];
        for (const page of made) page.html ??= md.render(page.text, { lemma: page });
    }
    for (const page of site.sources.made) site.pages.set(`source:${page.source}`, page);
    return site;
}
