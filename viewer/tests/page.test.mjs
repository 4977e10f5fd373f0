// SPDX-License-Identifier: Apache-2.0
// The page as one file in a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { diff, full } from "../fixtures/full.mjs";
import { hostile } from "../fixtures/hostile.mjs";
import {
    drawn,
    fileOf,
    heading,
    isShown,
    launch,
    placeOf,
    selected,
    withPage,
} from "./browser.mjs";

const root =
    process.env.LEMMA_SOURCE ?? join(dirname(fileURLToPath(import.meta.url)), "../..");
let browser;
before(async () => {
    browser = await launch();
});
after(() => browser?.close());
const open = (doc, act, options, hash = "") => withPage(browser, fileOf(doc) + hash, act, options);

test("a document is drawn and the overview says what it is", () =>
    open(full(), async (page, requests) => {
        await drawn(page);
        assert.equal(await page.title(), "digits – Lemma");
        assert.equal(await heading(page), "digits");
        const text = await page.textContent(".panel-body");
        for (const each of [
            "27.2 k",
            "124 k",
            "batch×1×28×28",
            "at most 64×1×28×28",
            "batch <= 64",
            "handwritten",
        ])
            assert.ok(text.includes(each), each);
        assert.ok(
            requests.every((r) => r.startsWith("file:") || r.startsWith("blob:")),
            "the page needs no network",
        );
        assert.equal(await page.getAttribute("canvas.graph", "data-layout"), "elk");
    }));

test("a click shows an operation with its formula, attributes, source, kernel and definition", () =>
    open(full(), async (page) => {
        await drawn(page);
        const place = await placeOf(page, "o1");
        await page.mouse.click(place.x, place.y);
        assert.equal(await heading(page), "conv");
        assert.equal(
            await page
                .locator(".formula math")
                .first()
                .evaluate((m) => m.namespaceURI),
            "http://www.w3.org/1998/Math/MathML",
        );
        assert.ok((await page.locator(".formula munder").count()) > 0);
        assert.equal(await page.locator("dd.default").count(), 3);
        assert.match(await page.textContent(".line.here"), /nn\.conv<stride/);
        const text = await page.textContent(".panel-body");
        for (const each of [
            "vectorize k by 16",
            "acc[16]",
            "channels % groups == 0",
            "Convolution of an input",
            "920.0 µs",
            "48 % of the run",
            "digits.sknd:12:9",
        ])
            assert.ok(text.includes(each), each);
        await page.click(".ports .link >> text=relu");
        assert.equal(await selected(page), "o2");
    }));

test("groups open and close in place", () =>
    open(full(), async (page) => {
        await drawn(page);
        assert.equal(await isShown(page, "o10"), false);
        const place = await placeOf(page, "o9");
        await page.mouse.dblclick(place.x + 10, place.y);
        await drawn(page);
        assert.equal(await isShown(page, "o10"), true);
        const again = await placeOf(page, "o9");
        assert.ok(
            Math.abs(again.y - place.y) < 3 && Math.abs(again.x - place.x) < 3,
            "the group stays where it is",
        );
        await page.mouse.click(again.left, again.y);
        await drawn(page);
        assert.equal(await isShown(page, "o10"), false);
        const loop = await placeOf(page, "o5");
        await page.mouse.click(loop.left, loop.y);
        await drawn(page);
        assert.equal(await isShown(page, "o6"), true, "a loop opens with its body");
    }));

test("the keyboard walks, opens, zooms and explains itself", () =>
    open(full(), async (page) => {
        await drawn(page);
        await page.focus("canvas.graph");
        await page.keyboard.press("ArrowDown");
        assert.equal(await selected(page), "iimage");
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("ArrowDown");
        assert.equal(await selected(page), "o2");
        await page.keyboard.press("ArrowUp");
        assert.equal(await selected(page), "o1");
        await page.keyboard.press("Backspace");
        assert.equal(await selected(page), "sfeatures");
        await page.keyboard.press("Enter");
        await drawn(page);
        assert.equal(await isShown(page, "o1"), false);
        await page.keyboard.press("Enter");
        await drawn(page);
        assert.equal(await isShown(page, "o1"), true);
        const zoom = () => page.evaluate(() => window.lemma.views[0].camera.goal.zoom);
        const before = await zoom();
        await page.keyboard.press("+");
        assert.ok((await zoom()) > before);
        await page.keyboard.press("-");
        await page.keyboard.press("f");
        await page.keyboard.press("e");
        await drawn(page);
        assert.equal(await isShown(page, "o6"), true);
        await page.keyboard.press("?");
        assert.equal(await page.locator("dialog.help").evaluate((d) => d.open), true);
        await page.keyboard.press("Escape");
        assert.equal(await page.locator("dialog.help").evaluate((d) => d.open), false);
        await page.keyboard.press("Escape");
        assert.equal(await selected(page), "");
    }));

test("search finds an operation inside a closed group and opens it", () =>
    open(full(), async (page) => {
        await drawn(page);
        await page.keyboard.press("/");
        await page.keyboard.type("digit.e");
        await page.waitForSelector(".suggestions li");
        await page.keyboard.press("Enter");
        await drawn(page);
        assert.equal(await heading(page), "exp");
        assert.equal(await isShown(page, "o12"), true);
        await page.keyboard.press("Control+k");
        await page.keyboard.type("zzzz");
        assert.match(await page.textContent(".suggestions"), /nothing found/);
        await page.keyboard.press("Escape");
        assert.equal(await page.isVisible(".suggestions"), false);
    }));

test("overlays colour the graph, with a legend and a ranking", () =>
    open(full(), async (page) => {
        await drawn(page);
        await page.click('[data-tab="overlays"]');
        for (const [title, first, value] of [
            ["MACs", "conv", "97.3 k"],
            ["Time", "conv", "920.0 µs"],
            ["Share of peak", "conv", "61 %"],
            ["Numeric error", "linear", "1.10e-6"],
            ["Parameters", "linear", "27.1 k"],
            ["Output bytes", "conv", "43.3 kB"],
        ]) {
            await page.click(`.choice button >> text="${title}"`);
            const row = await page.textContent(".ranks li:first-child");
            assert.ok(row.includes(first) && row.includes(value), `${title}: ${row}`);
            assert.equal(await page.textContent(".legend b"), title);
            assert.ok(await page.evaluate(() => window.lemma.views[0].marks.heat.size > 0));
        }
        await page.click(".ranks li:first-child button");
        assert.equal(await heading(page), "conv");
    }));

test("problems and verdicts are listed and jump", () =>
    open(full(), async (page) => {
        await drawn(page);
        assert.match(await page.textContent('[data-tab="problems"]'), /3/);
        await page.click('[data-tab="problems"]');
        const text = await page.textContent(".problems");
        for (const each of [
            "converges after 2",
            "unused-result",
            "OP7",
            "1 passed, 1 failed, 1 unknown",
            "digits.sknd:16:17",
            "A result that nobody reads",
        ])
            assert.ok(text.includes(each), each);
        await page.click(".problem .where .link >> nth=0");
        assert.equal(await selected(page), "o5");
        assert.ok((await page.textContent(".own")).includes("outside of the profile"));
    }));

test("tensors have statistics, a histogram and a picture", () =>
    open(full(), async (page) => {
        await drawn(page);
        await page.click('[data-tab="tensors"]');
        await page.click('.tensors .link >> text="c"');
        assert.equal(await heading(page), "c");
        assert.equal(await page.locator(".histogram rect").count(), 64);
        assert.equal(
            await page.locator("canvas.heat").evaluate((c) => `${c.width}×${c.height}`),
            "26×26",
        );
        await page.click("text=as heat map");
        await page.click('[data-tab="tensors"]');
        await page.click('.tensors .link >> text="digit"');
        assert.match(await page.textContent(".note.error"), /2 NaN/);
    }));

test("the memory plan names the tensor under the pointer", () =>
    open(full(), async (page) => {
        await drawn(page);
        await page.click('[data-tab="memory"]');
        assert.equal(await page.locator(".memory .block").count(), 8);
        await page.locator(".memory .block").nth(1).hover();
        assert.match(await page.textContent(".readout"), /^c: 43\.3 kB at 0 B, steps 0–1/);
        await page.locator(".memory .block").nth(1).click();
        assert.equal(await heading(page), "c");
    }));

test("a comparison shows both graphs and selects partners", () =>
    open(diff(), async (page) => {
        await drawn(page);
        assert.equal(await page.locator("canvas.graph").count(), 2);
        const text = await page.textContent(".changes");
        for (const each of [
            "1 only in A",
            "2 only in B",
            "stride",
            "[1,1]",
            "[2,2]",
            "The first tensor that differs",
        ])
            assert.ok(text.includes(each), each);
        await page.click('.changes .link >> text="conv · c"');
        await drawn(page);
        assert.equal(await selected(page, 0), "o1");
        assert.equal(await selected(page, 1), "o1");
        const extra = await placeOf(page, "o40", 1);
        await page.mouse.click(extra.x, extra.y);
        assert.equal(await heading(page), "gelu");
        assert.equal(await selected(page, 0), "");
        await page.focus("canvas.graph >> nth=0");
        await page.evaluate(() =>
            window.lemma.toggle(0, window.lemma.graphs[0].byKey.get("sfeatures")),
        );
        await drawn(page);
        assert.equal(await isShown(page, "o1", 1), false, "the partner closes, too");
    }));

test("light and dark follow the system, then the switch, and are remembered", async () => {
    await open(
        full(),
        async (page) => {
            await drawn(page);
            const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
            const corner = () =>
                page.evaluate(() =>
                    [
                        ...document
                            .querySelector("canvas.graph")
                            .getContext("2d")
                            .getImageData(2, 2, 1, 1).data,
                    ]
                        .slice(0, 3)
                        .join(),
                );
            assert.equal(await theme(), "dark");
            assert.equal(await corner(), "21,23,28");
            await page.click('[title="light or dark (t)"]');
            await page.waitForTimeout(100);
            assert.equal(await theme(), "light");
            assert.equal(await corner(), "250,250,248");
            await page.reload();
            await drawn(page);
            assert.equal(await theme(), "light");
        },
        { colorScheme: "dark" },
    );
});

test("a deep link restores selection, open groups, camera, overlay and tab", () =>
    open(
        full(),
        async (page) => {
            await drawn(page);
            assert.equal(await selected(page), "o12");
            assert.equal(await isShown(page, "o12"), true);
            assert.equal(await page.textContent(".legend b"), "MACs");
            assert.equal(await page.getAttribute('[data-tab="list"]', "aria-selected"), "true");
            const pose = await page.evaluate(() => ({ ...window.lemma.views[0].camera.goal }));
            assert.deepEqual(pose, { x: 40, y: 300, zoom: 0.9 });
            await page.waitForFunction(
                () =>
                    location.hash.includes("select=o12") && location.hash.includes("overlay=macs"),
            );
            await page.evaluate(() => (location.hash = "#select=t:logits"));
            await page.waitForFunction(
                () => document.querySelector(".panel-body h2").textContent === "logits",
            );
        },
        {},
        "#select=o12&open=o9,sclassifier&view=40,300,0.9&overlay=macs&tab=list",
    ));

test("the graph is saved as SVG and PNG", () =>
    open(full(), async (page) => {
        await drawn(page);
        const save = async (name) => {
            const [file] = await Promise.all([
                page.waitForEvent("download"),
                page.click(`.tools button >> text="${name}"`),
            ]);
            return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
        };
        const svg = await save("SVG");
        assert.equal(svg.name, "digits.svg");
        const text = svg.bytes.toString();
        assert.ok(
            text.startsWith("<svg") &&
                text.includes(">softmax<") &&
                text.includes("filter 16×1×3×3"),
        );
        const broken = await page.evaluate(
            (t) =>
                new DOMParser().parseFromString(t, "image/svg+xml").querySelector("parsererror")
                    ?.textContent ?? "",
            text,
        );
        assert.equal(broken, "");
        const png = await save("PNG");
        assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
        assert.ok(png.bytes.length > 10000);
    }));

test("a broken model shows its diagnostics with the source", () => {
    const doc = {
        ...full(),
        graph: null,
        diagnostics: [
            {
                severity: "error",
                kind: "no-operator",
                message: "no operator `nn.rely`",
                notes: ["did you mean `nn.relu`?"],
                place: { file: "digits.sknd", line: 13, column: 13 },
                operation: null,
            },
        ],
    };
    return open(doc, async (page) => {
        await page.waitForSelector(".problem.error");
        assert.match(
            await page.textContent(".problem.error"),
            /no operator `nn\.rely`.*did you mean/,
        );
        assert.match(await page.textContent(".line.here"), /r = nn\.relu\(c\)/);
        assert.equal(await page.locator("canvas.graph").count(), 0);
    });
});

test("a hostile document does nothing", () =>
    open(hostile(), async (page) => {
        await drawn(page);
        const tabs = await page.locator(".tabs button").all();
        for (const tab of tabs) await tab.click();
        for (const key of await page.evaluate(() =>
            window.lemma.graphs[0].items.map((i) => i.key).slice(0, 12),
        )) {
            await page.evaluate(
                (k) => window.lemma.selectItem(0, window.lemma.graphs[0].byKey.get(k)),
                key,
            );
        }
        await page.evaluate(() =>
            [...window.lemma.graphs[0].model.tensors.keys()].forEach((t) =>
                window.lemma.selectTensor(0, t),
            ),
        );
        for (const overlay of ["macs", "bytes", "time", "peak", "error", ""])
            await page.evaluate((o) => window.lemma.setOverlay(o), overlay);
        await page.keyboard.press("/");
        await page.keyboard.type("script onerror");
        await page.keyboard.press("Escape");
        const [file] = await Promise.all([
            page.waitForEvent("download"),
            page.click('.tools button >> text="SVG"'),
        ]);
        const text = readFileSync(await file.path()).toString();
        assert.ok(!/<script|<img/.test(text));
        assert.equal(
            await page.evaluate(
                (t) =>
                    new DOMParser().parseFromString(t, "image/svg+xml").querySelector("parsererror")
                        ?.textContent ?? "",
                text,
            ),
            "",
        );
        assert.equal(await page.evaluate(() => window.broken), undefined);
        assert.equal(await page.locator("img").count(), 0);
    }));

test("a document that is no document, or no JSON, gives a message", async () => {
    await open(17, async (page) => {
        await page.waitForSelector(".empty");
    });
});

test("the list and the controls have names and roles", () =>
    open(full(), async (page) => {
        await drawn(page);
        await page.click('[data-tab="list"]');
        assert.ok((await page.locator(".list li").count()) >= 6);
        await page
            .locator(".list details")
            .first()
            .evaluate((d) => (d.open = true));
        await page.waitForSelector(".list .tree .tree li");
        const nameless = await page.evaluate(() =>
            [...document.querySelectorAll("button, input, canvas.graph, [role=separator]")]
                .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim()))
                .map((e) => e.outerHTML),
        );
        assert.deepEqual(nameless, []);
        await page.keyboard.press("Tab");
        await page.keyboard.press("Tab");
        assert.ok(
            await page.evaluate(
                () => getComputedStyle(document.activeElement).outlineStyle !== "none",
            ),
            "focus is visible",
        );
        const policy = await page.getAttribute(
            'meta[http-equiv="Content-Security-Policy"]',
            "content",
        );
        assert.ok(policy.startsWith("default-src 'none'") && !policy.includes("unsafe"));
    }));

test("the panel can be resized and hidden", () =>
    open(full(), async (page) => {
        await drawn(page);
        const width = () => page.locator(".panel").evaluate((p) => p.offsetWidth);
        const before = await width();
        const grip = await page.locator(".grip").boundingBox();
        await page.mouse.move(grip.x + 3, 300);
        await page.mouse.down();
        await page.mouse.move(grip.x - 97, 300);
        await page.mouse.up();
        assert.ok(Math.abs((await width()) - before - 100) < 6);
        await page.focus("canvas.graph");
        await page.keyboard.press("p");
        assert.equal(await page.isVisible(".panel"), false);
    }));

// What `lemma show --json` prints for each format, without what `lemma view` adds.
for (const [format, path] of [
    ["onnx", "tests/golden/onnx/show_steered.golden.out"],
    ["sknd", "tests/golden/show/json.sknd.out"],
    ["nnef1", "viewer/fixtures/nnef1.json"],
]) {
    test(`a graph of format ${format}`, async () => {
        const graph = JSON.parse(readFileSync(join(root, path), "utf8").split(/^(?=\{)/m)[0]); // the first of its documents
        await open(
            { schema: 1, model: { name: format, format }, graph, live: false },
            everything(graph),
        );
    });
}

// A model that the program reads: LEMMA_MODELS=folder:folder… LEMMA=program.
for (const model of (process.env.LEMMA_MODELS ?? "").split(":").filter((m) => m)) {
    test(`the model ${model}`, async () => {
        const graph = JSON.parse(
            execFileSync(process.env.LEMMA ?? "lemma", ["show", "--json", model], {
                encoding: "utf8",
                maxBuffer: 1 << 28,
            }),
        );
        await open(
            { schema: 1, model: { name: model, format: "" }, graph, live: false },
            everything(graph),
        );
    });
}

// Opens all groups and selects operations all over the graph.
function everything(graph) {
    return async (page) => {
        await drawn(page);
        await page.keyboard.press("e");
        await drawn(page);
        assert.ok(
            Number(await page.getAttribute("canvas.graph", "data-boxes")) >=
                graph.operations.length,
        );
        const ids = await page.evaluate(() =>
            window.lemma.graphs[0].items.filter((i) => i.op).map((i) => i.index),
        );
        for (const id of ids.filter((_, i) => i % Math.ceil(ids.length / 10) === 0)) {
            await page.evaluate((i) => window.lemma.selectItem(0, i), id);
            await drawn(page);
            assert.ok((await heading(page)).length > 0);
        }
    };
}
