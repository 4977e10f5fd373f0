// SPDX-License-Identifier: Apache-2.0
// Reads the document from the page, or from the server that the page came from, and starts.

import { Api } from "./api";
import { App } from "./app";
import { h } from "./dom";
import { normalise } from "./normalise";
import { readLink } from "./state";

function token(): string {
    const given = document.querySelector('meta[name="lemma-token"]')?.getAttribute("content");
    return given || readLink(location.hash).token;
}

async function start(): Promise<void> {
    const inside = document.getElementById("lemma-document")?.textContent?.trim();
    const served = location.protocol.startsWith("http");
    let value: unknown;
    if (inside) value = JSON.parse(inside);
    else if (served) value = await new Api(true, token()).document();
    else throw new Error("this page has no document; `lemma view MODEL` writes one");
    const doc = normalise(value);
    const app = new App(doc, new Api(doc.live && served, token()));
    Object.defineProperty(window, "lemma", { value: app }); // for tests and for the curious
}

start().catch((error: unknown) => {
    document.body.append(
        h(
            "main",
            { class: "failed", role: "alert" },
            h("h1", {}, "The document cannot be shown"),
            h("p", {}, error instanceof Error ? error.message : String(error)),
        ),
    );
});
