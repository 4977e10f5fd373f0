// SPDX-License-Identifier: Apache-2.0
// The built site in a browser, from a server below a folder of its own. Every page must stay free of
// errors in the console, and nothing is asked of another server.
import assert from "node:assert/strict";
import { createReadStream, existsSync, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const site = process.env.LEMMA_SITE;
const shots = process.env.LEMMA_SITE_SHOTS;
const program = process.env.LEMMA_CHROMIUM ?? "/usr/bin/chromium";
const kTypes = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
};
let browser;
let server;
let base;

before(async () => {
    if (!existsSync(program))
        throw new Error(
            `the tests need ${program}: apt-get install chromium, or set LEMMA_CHROMIUM`,
        );
    server = createServer((request, response) => {
        const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
        let file = join(site, normalize(path.replace(/^\/some\/folder/, "")));
        if (existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
        if (!path.startsWith("/some/folder/") || !existsSync(file)) {
            response.writeHead(404).end();
            return;
        }
        response.writeHead(200, { "content-type": kTypes[extname(file)] ?? "text/plain" });
        createReadStream(file).pipe(response);
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    base = `http://127.0.0.1:${server.address().port}/some/folder/`;
    browser = await chromium.launch({
        executablePath: program,
        args: ["--headless", "--no-sandbox", "--disable-gpu"],
    });
    if (shots) mkdirSync(shots, { recursive: true });
});
after(async () => {
    await browser?.close();
    server?.close();
});

async function open(path, act, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1440, height: 1000 },
        colorScheme: "light",
        ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(120000); // a busy machine starts browsers slowly
    const errors = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on(
        "request",
        (r) =>
            !/^(data:|file:)/.test(r.url()) &&
            !r.url().startsWith(base) &&
            errors.push(`asked for ${r.url()}`),
    );
    try {
        await page.goto(/^file:/.test(path) ? path : base + path);
        await act(page);
        assert.deepEqual(errors, [], "errors in the console");
    } finally {
        await context.close();
    }
}
const shot = async (page, name, fullPage = false) =>
    shots && page.screenshot({ path: join(shots, `${name}.png`), fullPage });
const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const isWide = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

test("the front page has the picture, the commands and the table", () =>
    open("", async (page) => {
        assert.match(await page.textContent("h1"), /^Lemma/);
        assert.ok(
            await page.evaluate(() =>
                [...document.images].every((i) => i.complete && i.naturalWidth > 0),
            ),
        );
        assert.ok(await page.isVisible("text=What works"));
        await shot(page, "front");
        await shot(page, "front-full", true);
    }));

test("an operator has its formula as mathematics and an example", () =>
    open("operators/nn/conv.html", async (page) => {
        const box = await page.locator("math munder").first().boundingBox();
        assert.ok(box.height > 20, "the sum is drawn");
        assert.ok(await page.isVisible("text=lemma test conv.test"));
        const colours = await page.evaluate(
            () =>
                new Set(
                    [...document.querySelectorAll(".shiki span")].map(
                        (s) => getComputedStyle(s).color,
                    ),
                ).size,
        );
        assert.ok(colours > 3, "the code is highlighted");
        await shot(page, "operator");
        await page.click("nav.sections >> text=deconv");
        await page.waitForURL(/deconv\.html$/);
    }));

test("an error has its page", () =>
    open("errors/rank-mismatch.html", async (page) => {
        assert.match(await page.textContent("h1"), /rank-mismatch/);
        await shot(page, "error");
    }));

test("the search finds operators and errors, and Enter opens the first", () =>
    open("architecture.html", async (page) => {
        await shot(page, "architecture");
        await page.keyboard.press("/");
        await page.keyboard.type("softmax");
        await page.waitForSelector("dialog li a.chosen");
        assert.match(await page.textContent("dialog li a.chosen b"), /softmax/);
        await shot(page, "search");
        await page.fill("dialog input", "extent mismatch");
        await page.waitForFunction(() =>
            /extent-mismatch/.test(document.querySelector("dialog li a.chosen b")?.textContent),
        );
        await page.fill("dialog input", "lemma_carry");
        await page.waitForFunction(() =>
            /lemma_carry/.test(document.querySelector("dialog li a.chosen b")?.textContent),
        );
        await page.fill("dialog input", "extent-mismatch");
        await page.waitForFunction(() =>
            /extent-mismatch/.test(document.querySelector("dialog li a.chosen b")?.textContent),
        );
        await page.keyboard.press("Enter");
        await page.waitForURL(/errors\/extent-mismatch\.html$/);
    }));

test("a search without a result says so", () =>
    open("index.html", async (page) => {
        await page.click("button.search");
        await page.fill("dialog input", "xyzzyxyzzy");
        await page.waitForSelector("dialog.nothing");
    }));

test("the theme follows the system, the button changes it, and it stays", () =>
    open(
        "operators/nn/softmax.html",
        async (page) => {
            const dark = await ground(page);
            assert.equal(await page.getAttribute("html", "data-theme"), "dark");
            await shot(page, "dark");
            await page.click("button.theme");
            assert.notEqual(await ground(page), dark);
            await page.reload();
            assert.equal(await page.getAttribute("html", "data-theme"), "light");
        },
        { colorScheme: "dark" },
    ));

test("the reference of the API has signatures and comments", () =>
    open("api/index.html", async (page) => {
        await page.click("article >> text=lemma_run");
        await page.waitForURL(/lemma\.h\.html#lemma_run$/);
        assert.ok(await page.isVisible("text=Runs one step: computes the outputs"));
        await shot(page, "api");
    }));

test("pages fit a telephone, and its menu opens", () =>
    open(
        "operators/nn/conv.html",
        async (page) => {
            assert.equal(await isWide(page), false);
            await shot(page, "phone");
            assert.equal(await page.isVisible("nav.sections"), false);
            await page.click("button.menu");
            assert.ok(await page.isVisible("nav.sections"));
            await shot(page, "phone-menu");
            for (const other of [
                "index.html",
                "architecture.html",
                "performance.html",
                "api/c/lemma.h.html",
            ]) {
                await page.goto(base + other);
                assert.equal(await isWide(page), false, other);
            }
        },
        { viewport: { width: 390, height: 844 } },
    ));

test("the site works from files, the search included", () =>
    open(pathToFileURL(join(site, "index.html")).href, async (page) => {
        await page.keyboard.press("/");
        await page.keyboard.type("conv");
        await page.waitForSelector("dialog li a.chosen");
    }));
