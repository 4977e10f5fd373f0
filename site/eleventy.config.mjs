// SPDX-License-Identifier: Apache-2.0
// Every page is a template that exists in memory only: its HTML is made by lib/site.mjs, its frame by
// lib/layout.mjs. Eleventy writes the files.
import { frame } from "./lib/layout.mjs";
import { site } from "./lib/site.mjs";

export default function configure(config) {
    config.setQuietMode(true);
    config.setUseGitIgnore(false);
    config.setTemplateFormats(["html"]);
    for (const page of site.pages.values())
        config.addTemplate(page.url, "", { permalink: page.url });
    config.addTransform("frame", function framed(content) {
        const page = site.byUrl.get(
            this.page.url.replace(/^\//, "").replace(/(^|\/)$/, "$1index.html"),
        );
        return page ? frame(site, page, page.html) : content;
    });
    for (const [from, to] of site.images) config.addPassthroughCopy({ [from]: to });
    return { dir: { input: "theme", includes: "_includes" }, htmlTemplateEngine: false };
}
