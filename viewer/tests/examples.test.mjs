// SPDX-License-Identifier: Apache-2.0
// The pages that the program writes, for models of each format, in a browser. LEMMA names the
// program, LEMMA_SOURCE the repository.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { drawn, heading, launch, withPage } from "./browser.mjs";

const program = process.env.LEMMA;
const source = process.env.LEMMA_SOURCE;
const folder = mkdtempSync(join(tmpdir(), "lemma-examples-"));
let browser;
before(async () => {
    assert.ok(program && source, "LEMMA and LEMMA_SOURCE must be set");
    browser = await launch();
});
after(() => browser?.close());

// The address of the page that a command writes.
function written(name, args, statuses = [0]) {
    const path = join(folder, `${name.replace(/[^a-z0-9]/gi, "_")}.html`);
    const done = spawnSync(program, [...args, `--html=${path}`], { cwd: source, encoding: "utf8" });
    assert.ok(statuses.includes(done.status), `${args.join(" ")}: ${done.stderr}`);
    assert.ok(existsSync(path));
    return pathToFileURL(path).href;
}

// Opens everything, searches, selects, colours and changes the theme.
async function explore(page) {
    await drawn(page);
    assert.ok((await heading(page)).length > 0);
    await page.focus("canvas.graph");
    await page.keyboard.press("e");
    await drawn(page);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.ok((await heading(page)).length > 0);
    for (const overlay of ["macs", "bytes", ""])
        await page.evaluate((o) => window.lemma.setOverlay(o), overlay);
    await page.keyboard.press("/");
    await page.keyboard.type("a");
    await page.keyboard.press("Escape");
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    await page.click('[title="light or dark (t)"]');
    assert.notEqual(await theme(), before);
    await drawn(page);
}

const models = [
    "examples/alexnet",
    "examples/bert_layer",
    "examples/control_flow",
    "examples/custom_operator/main.sknd",
    "examples/digits",
    "examples/dynamic_batch",
    "examples/lstm",
    "examples/mobilenet_v2",
    "examples/new_operators/gated.sknd",
    "examples/parametric",
    "examples/resnet50",
    "examples/running_mean",
    "examples/tutorial",
    "examples/nnef1/alexnet",
    "examples/nnef1/googlenet",
    "examples/nnef1/resnet50",
    "examples/nnef1/vgg16",
    "tests/golden/sonnx/inputs/good.onnx",
];
for (const model of models)
    test(`${model} opens, expands, is searched and coloured`, () =>
        withPage(browser, written(model, ["view", model]), explore));

test("a run, times and weights are in the file", () =>
    withPage(
        browser,
        written("measured", ["view", "examples/digits", "--times", "--run", "--weights"]),
        async (page) => {
            await drawn(page);
            for (const overlay of ["time", "peak", ""])
                await page.evaluate((o) => window.lemma.setOverlay(o), overlay);
            await page.click('[data-tab="tensors"]');
            assert.match(await page.textContent(".panel-body"), /picture|logits|seen/);
            await page.click('[data-tab="memory"]');
            assert.ok((await page.textContent(".panel-body")).length > 0);
        },
    ));

test("a broken model shows its diagnostics and its text", () =>
    withPage(
        browser,
        written("broken", ["view", "tests/golden/view/fail_broken.sknd"], [1]),
        async (page) => {
            await page.waitForSelector(".panel-body");
            assert.match(await page.textContent("body"), /error/);
        },
    ));

test("two models stand side by side", () =>
    withPage(
        browser,
        written("diff", ["diff", "examples/alexnet", "examples/nnef1/alexnet"], [0, 1]),
        async (page) => {
            await drawn(page);
            assert.equal(await page.evaluate(() => window.lemma.views.length), 2);
            assert.equal(await heading(page), "Changes");
        },
    ));
