// SPDX-License-Identifier: Apache-2.0
// Ten thousand operations: the page draws them, stays correct while it moves, and --measure prints the
// times from the browser's own trace.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { large } from "../fixtures/large.mjs";
import { drawn, fileOf, heading, isShown, launch, selected, withPage } from "./browser.mjs";

const kCount = Number(process.env.LEMMA_VIEWER_COUNT ?? 10000);
const measure = process.env.LEMMA_VIEWER_MEASURE === "1";
let browser;
before(async () => {
    browser = await launch();
});
after(() => browser?.close());

test(`${kCount} operations are drawn, searched and walked`, () =>
    withPage(browser, fileOf(large(kCount)), async (page) => {
        await drawn(page);
        assert.equal(await page.getAttribute("canvas.graph", "data-layout"), "fast");
        assert.equal(await page.getAttribute("canvas.graph", "data-boxes"), String(kCount + 2));
        await page.keyboard.press("/");
        await page.keyboard.type(`op${kCount - 2}`);
        await page.keyboard.press("Enter");
        await page.waitForTimeout(400);
        assert.equal(await selected(page), `o${kCount - 1}`);
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("o");
        assert.equal(await page.textContent(".legend b"), "MACs");
        await page.click('[data-tab="list"]');
        assert.ok((await page.locator(".list li").count()) <= 202, "the list comes in portions");
        const inked = await page.evaluate(() => {
            const c = document.querySelector("canvas.graph");
            const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
            let n = 0;
            for (let i = 0; i < data.length; i += 4) if (data[i] !== 250) n++;
            return n;
        });
        assert.ok(inked > 500, "something is drawn");
    }));

test(`${kCount} operations in scopes start as a small graph`, () =>
    withPage(browser, fileOf(large(kCount, true)), async (page) => {
        await drawn(page);
        assert.ok(Number(await page.getAttribute("canvas.graph", "data-boxes")) <= 140);
        await page.evaluate(() =>
            window.lemma.selectItem(0, window.lemma.graphs[0].byKey.get("o5000")),
        );
        await drawn(page);
        assert.equal(await isShown(page, "o5000"), true);
        assert.equal(
            await heading(page),
            await page.evaluate(
                () => window.lemma.graphs[0].items[window.lemma.graphs[0].byKey.get("o5000")].title,
            ),
        );
    }));

// Wheel, zoom to the whole graph and back, drag. The page itself sends the events, one per frame.
async function move(page) {
    return page.evaluate(async () => {
        const times = [];
        const canvas = document.querySelector("canvas.graph");
        const frame = () =>
            new Promise((next) => requestAnimationFrame((now) => (times.push(now), next())));
        const wheel = (dx, dy, ctrlKey) =>
            canvas.dispatchEvent(
                new WheelEvent("wheel", {
                    deltaX: dx,
                    deltaY: dy,
                    ctrlKey,
                    clientX: 400,
                    clientY: 400,
                    bubbles: true,
                    cancelable: true,
                }),
            );
        for (let i = 0; i < 60; i++) (wheel(0, 120, false), await frame());
        for (let i = 0; i < 60; i++) (wheel(0, 60, true), await frame());
        for (let i = 0; i < 40; i++) (wheel(0, 40, false), await frame());
        for (let i = 0; i < 60; i++) (wheel(0, -60, true), await frame());
        for (let i = 0; i < 40; i++) (wheel(40, 0, false), await frame());
        return times;
    });
}

async function trace(page, act) {
    const client = await page.context().newCDPSession(page);
    const events = [];
    client.on("Tracing.dataCollected", (data) => events.push(...data.value));
    await client.send("Tracing.start", {
        transferMode: "ReportEvents",
        traceConfig: {
            includedCategories: [
                "devtools.timeline",
                "disabled-by-default-devtools.timeline",
                "toplevel",
            ],
        },
    });
    await act();
    const done = new Promise((next) => client.once("Tracing.tracingComplete", next));
    await client.send("Tracing.end");
    await done;
    return events;
}

test("moving through the graph keeps it drawn", () =>
    withPage(browser, fileOf(large(kCount)), async (page) => {
        await drawn(page);
        const first = await page.evaluate(
            () => performance.getEntriesByName("lemma-first-picture")[0].startTime,
        );
        let times = [];
        const events = await trace(page, async () => (times = await move(page)));
        const frames = events.filter((e) => e.name === "FireAnimationFrame" && e.ph === "X");
        assert.ok(frames.length > 200, `${frames.length} frames`);
        if (!measure) return;
        const longest = (list, field) =>
            (Math.max(0, ...list.map((e) => e[field] ?? 0)) / 1000).toFixed(1);
        const tasks = events.filter(
            (e) =>
                e.name.endsWith("RunTask") &&
                e.ph === "X" &&
                e.tid === frames[0].tid &&
                e.pid === frames[0].pid,
        );
        const sorted = frames.map((e) => e.tdur ?? e.dur).sort((a, b) => a - b);
        console.log(
            `first picture of ${kCount} operations: ${first.toFixed(0)} ms after the start of the navigation`,
        );
        console.log(
            `${frames.length} frames: longest ${longest(frames, "dur")} ms wall, ${longest(frames, "tdur")} ms processor; median ${(sorted[sorted.length >> 1] / 1000).toFixed(1)} ms processor`,
        );
        const gaps = times
            .slice(1)
            .map((t, i) => t - times[i])
            .sort((a, b) => a - b);
        const gap = (share) =>
            gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))].toFixed(1);
        console.log(
            `from frame to frame: median ${gap(0.5)} ms, 99 % below ${gap(0.99)} ms, longest ${gap(1)} ms`,
        );
        console.log(
            `longest task of the page's thread: ${longest(tasks, "dur")} ms wall, ${longest(tasks, "tdur")} ms processor`,
        );
    }));
