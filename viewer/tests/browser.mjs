// SPDX-License-Identifier: Apache-2.0
// A browser for the tests. Every page must stay free of errors in the console.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { pageWith } from "../fixtures/page.mjs";

const kProgram = process.env.LEMMA_CHROMIUM ?? "/usr/bin/chromium";
const folder = mkdtempSync(join(tmpdir(), "lemma-viewer-"));
let files = 0;

export async function launch() {
    if (!existsSync(kProgram))
        throw new Error(
            `the tests need ${kProgram}: apt-get install chromium, or set LEMMA_CHROMIUM`,
        );
    return chromium.launch({
        executablePath: kProgram,
        args: ["--headless", "--no-sandbox", "--disable-gpu"],
    });
}

export function fileOf(doc) {
    const path = join(folder, `page${files++}.html`);
    writeFileSync(path, pageWith(JSON.stringify(doc)));
    return pathToFileURL(path).href;
}

// Opens an address, runs `act`, and fails if the console had an error.
export async function withPage(browser, address, act, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        acceptDownloads: true,
        ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(240000); // a busy machine starts browsers slowly
    const errors = [];
    page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
    });
    page.on("pageerror", (error) => errors.push(String(error)));
    const requests = [];
    page.on("request", (request) => requests.push(request.url()));
    try {
        await page.goto(address);
        await act(page, requests);
        assert.deepEqual(errors, [], "errors in the console");
    } finally {
        await context.close();
    }
}

// Waits until the graph is drawn, ELK's layout included, and nothing moves.
export async function drawn(page) {
    await page.waitForSelector("canvas.graph[data-drawn]");
    await page.waitForFunction(() => window.lemma.views.every((v) => v.layout));
    await page.evaluate(() => Promise.all(window.lemma.views.map((v) => v.ready)));
    await page.waitForTimeout(350);
}

// Where an item is on the screen.
export function placeOf(page, key, side = 0) {
    return page.evaluate(
        ([k, s]) => {
            const view = window.lemma.views[s];
            const box = view.layout.at.get(view.graph.byKey.get(k));
            if (!box) return null;
            const rect = view.canvas.getBoundingClientRect();
            return {
                x: rect.left + view.camera.toScreenX(box.x + box.width / 2),
                y: rect.top + view.camera.toScreenY(box.y + 12),
                left: rect.left + view.camera.toScreenX(box.x + 12),
            };
        },
        [key, side],
    );
}

export const heading = (page) => page.textContent(".panel-body h2");
export const selected = (page, side = 0) =>
    page.evaluate(
        (s) => window.lemma.views[s].graph.items[window.lemma.views[s].marks.selected]?.key ?? "",
        side,
    );
export const isShown = (page, key, side = 0) =>
    page.evaluate(
        ([k, s]) => window.lemma.views[s].layout.at.has(window.lemma.views[s].graph.byKey.get(k)),
        [key, side],
    );
