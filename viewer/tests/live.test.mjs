// SPDX-License-Identifier: Apache-2.0
// The page with a server: every measurement is asked for with the token, errors become messages.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { full } from "../fixtures/full.mjs";
import { pageWith } from "../fixtures/page.mjs";
import { drawn, heading, launch, withPage } from "./browser.mjs";

const kToken = "secret-1";
const asked = [];
let browser;
let server;
let address;

function answer(path, query) {
    const doc = full();
    if (path === "/api/document") {
        const { times, errors, memory, tensors, kernels, ...rest } = doc;
        return { ...rest, live: true, tensors: {} };
    }
    if (path === "/api/profile") return doc.times;
    if (path === "/api/compare") return { error: "the interpreter is <b>busy</b>" };
    if (path === "/api/memory") return doc.memory;
    if (path === "/api/kernels") return doc.kernels;
    if (path === "/api/run") return { tensors: { r: doc.tensors.r } };
    if (path === "/api/tensor" && query.get("name") === "filter") return doc.tensors.filter;
    return null;
}

before(async () => {
    browser = await launch();
    const html = pageWith("").replace(
        '<meta name="lemma-token" content="">',
        `<meta name="lemma-token" content="${kToken}">`,
    );
    server = createServer((request, response) => {
        const url = new URL(request.url, "http://localhost");
        if (url.pathname === "/") {
            response.setHeader("Content-Type", "text/html");
            return response.end(html);
        }
        if (url.pathname === "/favicon.ico") return response.writeHead(204).end();
        asked.push(`${request.method} ${url.pathname}`);
        const found =
            request.headers["x-lemma-token"] === kToken
                ? answer(url.pathname, url.searchParams)
                : null;
        response
            .writeHead(found ? 200 : 404, { "Content-Type": "application/json" })
            .end(JSON.stringify(found ?? { error: "not found" }));
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    address = `http://127.0.0.1:${server.address().port}/`;
});
after(async () => {
    await browser?.close();
    server?.close();
});

test("a served page fetches its document and says that it is live", () =>
    withPage(browser, address, async (page) => {
        await drawn(page);
        assert.equal(await page.textContent(".chip.live"), "live");
        assert.ok(asked.includes("GET /api/document"));
    }));

test("times are measured on demand", () =>
    withPage(browser, address, async (page) => {
        await drawn(page);
        await page.click('[data-tab="overlays"]');
        await page.click('.choice button >> text="Time"');
        assert.equal(await page.locator(".ranks li").count(), 0);
        await page.click('button >> text="measure"');
        await page.waitForSelector(".ranks li");
        assert.match(await page.textContent(".ranks li:first-child"), /conv.*920\.0 µs/);
        assert.ok(asked.includes("POST /api/profile"));
    }));

test("an error of the server is shown as text", () =>
    withPage(browser, address, async (page) => {
        await drawn(page);
        await page.click('[data-tab="overlays"]');
        await page.click('.choice button >> text="Numeric error"');
        await page.click('button >> text="measure"');
        await page.waitForFunction(() =>
            document
                .querySelector(".status")
                .textContent.includes("the interpreter is <b>busy</b>"),
        );
        assert.equal(await page.locator(".status b").count(), 0);
    }));

test("a run gives intermediate tensors, weights are read when they are looked at", () =>
    withPage(browser, address, async (page) => {
        await drawn(page);
        await page.evaluate(() => window.lemma.selectTensor(0, "r"));
        assert.match(await page.textContent(".panel-body"), /No run yet/);
        await page.click('.panel-body button >> text="run the model"');
        await page.waitForSelector(".histogram");
        assert.equal(await heading(page), "r");
        await page.evaluate(() => window.lemma.selectTensor(0, "filter"));
        await page.waitForSelector(".histogram");
        assert.ok(asked.includes("GET /api/tensor") && asked.includes("POST /api/run"));
    }));

test("memory plan and kernels are asked for", () =>
    withPage(browser, address, async (page) => {
        await drawn(page);
        await page.click('[data-tab="memory"]');
        await page.waitForSelector(".memory .block");
        await page.evaluate(() =>
            window.lemma.selectItem(0, window.lemma.graphs[0].byKey.get("o1")),
        );
        await page.click('button >> text="show loops"');
        await page.waitForSelector(".kernels pre");
        assert.match(await page.textContent(".kernels"), /vectorize k by 16/);
    }));
