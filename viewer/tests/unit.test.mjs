// SPDX-License-Identifier: Apache-2.0
// What needs no browser: reading documents, groups, layouts, formulas, search, links.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { diff, full } from "../fixtures/full.mjs";
import { hostile } from "../fixtures/hostile.mjs";
import { large } from "../fixtures/large.mjs";
import { modules } from "./modules.mjs";
import { Maker } from "./maker.mjs";

let m;
before(async () => {
    m = await modules();
});
const graphOf = (doc) => m.buildGraph(m.normaliseGraph(m.normalise(doc).graph));

test("a bare graph of `lemma show --json` gets ids, titles and scopes", () => {
    const bare = full().graph;
    const strip = (ops) =>
        ops.forEach((op) => {
            delete op.id;
            delete op.title;
            delete op.scope;
            strip(op.parts ?? []);
        });
    strip(bare.operations);
    bare.operations[0].label = "/layer1/layer1.0/conv1/Conv";
    const model = m.normaliseGraph(m.normalise(bare).graph);
    assert.equal(model.ops.length, 14);
    assert.equal(new Set(model.ops.map((o) => o.id)).size, 14);
    assert.deepEqual(model.ops[0].scope, ["layer1", "layer1.0", "conv1"]);
    assert.equal(model.ops[0].title, "conv");
});

test("values of wrong types count as missing", () => {
    for (const value of [
        null,
        3,
        "x",
        [],
        {},
        { graph: 7 },
        { graph: { operations: [null, 3, { parts: "x", inputs: [null, { pack: [1] }] }] } },
        { diagnostics: [null], graph: null },
    ]) {
        const doc = m.normalise(value);
        const model = m.normaliseGraph(doc.graph);
        if (model) m.visibleOf(m.buildGraph(model), new Set());
    }
});

test("equal ids do not hide an operation", () => {
    const model = m.normaliseGraph({
        operations: [
            { id: 1, operation: "a" },
            { id: 1, operation: "b" },
        ],
    });
    assert.deepEqual(
        model.ops.map((o) => o.id),
        [1, 2],
    );
});

test("the producer of a tensor is the innermost operation", () => {
    const model = graphOf(full()).model;
    assert.equal(model.producer.get("digit").operation, "math.div");
    assert.deepEqual(
        model.consumers.get("logits").map((o) => o.operation),
        ["nn.softmax", "math.max_reduce", "math.sub"],
    );
});

test("weights are rows of a box, not boxes", () => {
    const graph = graphOf(full());
    assert.deepEqual(graph.items.find((i) => i.op?.label === "c").rows, [
        "filter 16×1×3×3",
        "bias 16",
    ]);
    assert.ok(!graph.items.some((i) => i.title === "filter"));
});

test("a scope with one member is dissolved", () => {
    const op = (label) => ({ operation: "nn.relu", label, inputs: [], outputs: [] });
    const graph = m.buildGraph(
        m.normaliseGraph({ operations: [op("/a/b/x"), op("/a/c/y"), op("/d/z")] }),
    );
    assert.deepEqual(
        graph.items.map((i) => i.key),
        ["sa", "o1", "o2", "o3"],
    );
});

test("closed groups take the edges of their members", () => {
    const graph = graphOf(full());
    const softmax = graph.byKey.get("o9");
    const closed = m.visibleOf(graph, m.openAtStart(graph));
    assert.ok(closed.edges.some((e) => e.to === softmax && e.tensors[0].name === "logits"));
    const open = m.visibleOf(graph, new Set([...m.openAtStart(graph), softmax]));
    assert.ok(open.isOpen[softmax]);
    assert.equal(open.shown.length, closed.shown.length + 5);
    assert.ok(!open.edges.some((e) => e.to === softmax));
});

// Boxes of one group may not overlap, members lie in their group, edges end at their boxes.
function checkLayout(request, laid) {
    const count = request.parent.length;
    const right = (n) => laid.x[n] + laid.width[n];
    const bottom = (n) => laid.y[n] + laid.height[n];
    const siblings = new Map();
    for (let n = 0; n < count; n++) {
        const p = request.parent[n];
        if (p >= 0)
            assert.ok(
                laid.x[n] >= laid.x[p] - 0.01 &&
                    laid.y[n] >= laid.y[p] - 0.01 &&
                    right(n) <= right(p) + 0.01 &&
                    bottom(n) <= bottom(p) + 0.01,
                `member ${n} leaves its group`,
            );
        if (!siblings.has(p)) siblings.set(p, []);
        siblings.get(p).push(n);
    }
    for (const list of siblings.values()) {
        list.sort((a, b) => laid.y[a] - laid.y[b]);
        for (let i = 0; i < list.length; i++) {
            for (let j = i + 1; j < list.length && laid.y[list[j]] < bottom(list[i]); j++) {
                const [a, b] = [list[i], list[j]];
                assert.ok(
                    right(a) <= laid.x[b] + 0.02 || right(b) <= laid.x[a] + 0.02,
                    `boxes ${a} and ${b} overlap`,
                );
            }
        }
    }
    for (let e = 0; e < request.from.length; e++) {
        const [begin, end] = [laid.start[e] * 2, laid.start[e + 1] * 2 - 2];
        if (end < begin) continue;
        assert.ok(
            Math.abs(laid.points[begin + 1] - bottom(request.from[e])) < 0.1,
            "an edge begins below its box",
        );
        assert.ok(
            Math.abs(laid.points[end + 1] - laid.y[request.to[e]]) < 0.1,
            "an edge ends above its box",
        );
    }
}

test("the fast layout keeps boxes apart and members inside", () => {
    const graph = graphOf(full());
    const request = m.requestOf(
        graph,
        m.visibleOf(graph, new Set(graph.items.map((i) => i.index))),
    );
    checkLayout(request, m.layoutNested(request));
});

test("the fast layout places ten thousand operations", () => {
    const graph = graphOf(large(10000));
    const request = m.requestOf(graph, m.visibleOf(graph, new Set()));
    assert.equal(request.parent.length, 10002);
    checkLayout(request, m.layoutNested(request));
});

test("a layout with cycles and loops onto itself ends", () => {
    const request = {
        parent: Int32Array.from([-1, -1, -1, -1]),
        isOpen: new Uint8Array(4),
        width: new Float32Array(4).fill(50),
        height: new Float32Array(4).fill(20),
        from: Int32Array.from([0, 1, 2, 3, 1]),
        to: Int32Array.from([1, 2, 0, 3, 0]),
        header: 20,
        padding: 10,
    };
    checkLayout(request, m.layoutNested(request));
    assert.equal(
        m
            .backEdges(3, Int32Array.from([0, 1, 2]), Int32Array.from([1, 2, 0]))
            .reduce((a, b) => a + b),
        1,
    );
});

test("an edge into an open group passes beside the members that it does not end at", () => {
    // A group (1) with three members in a row (2 → 3 → 4); box 0 feeds the first and the last.
    const request = {
        parent: Int32Array.from([-1, -1, 1, 1, 1]),
        isOpen: Uint8Array.from([0, 1, 0, 0, 0]),
        width: new Float32Array(5).fill(60),
        height: new Float32Array(5).fill(20),
        from: Int32Array.from([0, 2, 3, 0]),
        to: Int32Array.from([2, 3, 4, 4]),
        header: 26,
        padding: 14,
    };
    const laid = m.layoutNested(request);
    checkLayout(request, laid);
    const middle = laid.y[3] + 10;
    const points = [...laid.points.subarray(laid.start[3] * 2, laid.start[4] * 2)];
    const above = points.findIndex((v, i) => i % 2 === 1 && v > middle) - 3;
    assert.ok(above >= 0 && points[above] === points[above + 2], "it passes straight down");
    assert.ok(points[above] < laid.x[3] || points[above] > laid.x[3] + 60, "and not through box 3");
    assert.ok(
        points.some((v, i) => i % 2 === 1 && Math.abs(v - laid.y[1]) < 0.01),
        "through the border",
    );
});

test("layers follow the longest path; sources stand above their consumer", () => {
    assert.deepEqual(
        [...m.layersOf(4, Int32Array.from([0, 1, 3]), Int32Array.from([1, 2, 2]))],
        [0, 1, 2, 1],
    );
});

test("spread moves boxes as little as possible", () => {
    assert.deepEqual(m.spread([0, 0], [1, 1], [10]), [-5, 5]);
    assert.deepEqual(m.spread([0, 100], [1, 1], [10]), [0, 100]);
});

test("random graphs with groups keep the laws of a layout", () => {
    let seed = 7;
    const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    for (let round = 0; round < 60; round++) {
        const count = 2 + random(40);
        const parent = Int32Array.from({ length: count }, (_, n) =>
            n < 3 ? -1 : random(3) ? -1 : random(n),
        );
        for (let n = 1; n < count; n++) if (parent[n] >= 0 && parent[n] >= n) parent[n] = -1;
        const isOpen = new Uint8Array(count);
        for (const p of parent) if (p >= 0) isOpen[p] = 1;
        const ancestors = (n) => {
            const out = [];
            for (let a = parent[n]; a >= 0; a = parent[a]) out.push(a);
            return out;
        };
        const edges = Array.from({ length: random(80) }, () => [
            random(count),
            random(count),
        ]).filter(([a, b]) => a !== b && !ancestors(a).includes(b) && !ancestors(b).includes(a));
        const request = {
            parent,
            isOpen,
            width: Float32Array.from({ length: count }, () => 40 + random(80)),
            height: Float32Array.from({ length: count }, () => 20 + random(40)),
            from: Int32Array.from(edges, (e) => e[0]),
            to: Int32Array.from(edges, (e) => e[1]),
            header: 26,
            padding: 14,
        };
        checkLayout(request, m.layoutNested(request));
    }
});

test("a formula becomes MathML", () => {
    const doc = full();
    const maker = new Maker();
    const conv = maker.text(m.drawFormula(doc.graph.operations[0].formulas[0], maker));
    assert.match(conv, /^<math><mrow><msub><mi>output<\/mi>/);
    assert.match(conv, /<munder><mo>∑<\/mo><mtable>/);
    assert.match(conv, /<mo>≤<\/mo>/);
    const relu = maker.text(m.drawFormula(doc.graph.operations[1].formulas[0], maker));
    assert.match(relu, /<mo>\{<\/mo><mtable>.*otherwise/);
    const softmax = maker.text(m.drawFormula(doc.graph.operations[6].formulas[1], maker));
    assert.match(softmax, /<mfrac>.*<msup><mi>e<\/mi>/);
    assert.equal(m.drawRanges(doc.graph.operations[0].formulas[0], maker).length, 4);
});

test("formulas keep the brackets that they need", () => {
    const maker = new Maker();
    const name = (v) => ({ k: "name", v });
    const op = (v, ...args) => ({ k: "op", v, args });
    const flat = (tree) => maker.plain(m.drawFormula({ tree }, maker));
    assert.equal(flat(op("*", op("+", name("a"), name("b")), name("c"))), "(a+b)·c");
    assert.equal(flat(op("-", name("a"), op("-", name("b"), name("c")))), "a−(b−c)");
    assert.equal(flat(op("-", op("-", name("a"), name("b")), name("c"))), "a−b−c");
    assert.equal(
        flat(op(",", op("=", name("i0"), name("b")), op("=", name("c"), name("d")))),
        "i₀=bc=d",
    );
    assert.deepEqual(
        m
            .drawLets({ lets: [["t", op("+", name("a"), name("b"))], null] }, maker)
            .map((e) => maker.plain(e)),
        ["t=a+b"],
    );
    assert.equal(flat({ k: "neg", of: op("+", name("a"), name("b")) }), "−(a+b)");
});

test("a formula of any shape is drawn, however deep or wrong", () => {
    let deep = { k: "num", v: "1" };
    for (let i = 0; i < 5000; i++) deep = { k: "neg", of: deep };
    const maker = new Maker();
    for (const tree of [
        deep,
        { k: "op" },
        { k: "call", v: "f" },
        { k: "sum", of: null },
        { k: "cases", arms: [null] },
        { k: "index", of: 3, at: 4 },
        { k: "what" },
        7,
    ]) {
        assert.ok(m.drawFormula({ tree, ranges: [null, ["i"]], conditions: "x" }, maker));
        m.drawRanges({ tree, ranges: [null, ["i"]], conditions: "x" }, maker);
    }
});

test("search prefers the start of words and finds every kind", () => {
    const index = m.buildIndex([graphOf(full())]);
    assert.equal(m.search(index, "conv")[0].kind, "operation");
    assert.ok(m.search(index, "nn.softmax").some((e) => e.kind === "operator"));
    assert.ok(m.search(index, "stride").some((e) => e.kind === "attribute"));
    assert.ok(m.search(index, "logits").some((e) => e.kind === "tensor"));
    assert.deepEqual(m.search(index, "  "), []);
    assert.deepEqual(m.search(index, "no such thing"), []);
});

test("a deep link survives writing and reading", () => {
    const link = {
        select: "sa/b c&d=e#",
        side: 1,
        open: ["s1,2", "o3"],
        view: [10, -20, 0.5],
        overlay: "macs",
        tab: "list",
        token: "abc",
    };
    assert.deepEqual(m.readLink(m.writeLink(link)), link);
    assert.deepEqual(m.readLink("#open=").open, []);
    assert.equal(m.readLink("#view=1,2,x&%zz=%zz&select=%E0%A4%A").view, null);
});

test("hidden characters can be seen", () => {
    assert.equal(m.clean("a\u202eb\u0000c\nd"), "a\\u202eb\\u0000c⏎d");
    assert.equal(m.clean("x".repeat(1000), 10), "xxxxxxxxxx…");
    assert.equal(m.clean("\ud800"), "\\ud800");
    assert.equal(m.cleanLines("a\r\n\tb"), "a\n\tb");
});

test("numbers are short", () => {
    assert.equal(m.short(1234567), "1.23 M");
    assert.equal(m.bytes(108160), "108 kB");
    assert.equal(m.real(1.23456e-7), "1.23e-7");
    assert.equal(m.milliseconds(0.0123), "12.3 µs");
    assert.equal(m.shapeText(["n", 3]), "n×3");
});

test("families follow names and modules", () => {
    const of = (name, kind = "primitive") => m.familyOf(name, kind);
    assert.equal(of("onnx.conv.Conv"), "convolution");
    assert.equal(of("nn.batch_norm"), "normalisation");
    assert.equal(of("nn.relu"), "activation");
    assert.equal(of("layout.unknown_thing"), "layout");
    assert.equal(of("onnx.arithmetic.Add"), "math");
    assert.equal(of("onnx.linear.MatMul"), "linear");
    assert.equal(of("loop", "control"), "control");
});

test("an overlay sums groups and ranks operations", () => {
    const graph = graphOf(full());
    const doc = m.normalise(full());
    const macs = m.heatOf(
        graph,
        m.kOverlays.find((o) => o.name === "macs"),
        { times: null, errors: null },
        false,
    );
    assert.equal(graph.items[macs.ranking[0].index].op.label, "c");
    assert.equal(macs.texts.get(graph.byKey.get("sfeatures")), "97.3 k");
    const time = m.heatOf(
        graph,
        m.kOverlays.find((o) => o.name === "time"),
        { times: doc.times, errors: null },
        true,
    );
    assert.equal(time.most, 0.92);
    assert.ok(Math.abs(m.shareOf(m.kOverlays[0], 25, 100) - 0.5) < 1e-9);
});

test("a comparison pairs operations and marks the groups around them", () => {
    const doc = m.normalise(diff());
    const graphs = [doc.diff.a, doc.diff.b].map((g) => m.buildGraph(m.normaliseGraph(g)));
    const { partner, status } = m.compare(doc.diff, graphs);
    assert.equal(partner[0].get(graphs[0].byKey.get("o1")), graphs[1].byKey.get("o1"));
    assert.equal(status[0].get(graphs[0].byKey.get("o3")), "removed");
    assert.equal(status[1].get(graphs[1].byKey.get("o40")), "added");
    assert.equal(status[0].get(graphs[0].byKey.get("sfeatures")), "changed");
});

test("steps sideways become slopes", () => {
    assert.deepEqual(m.soften([0, 0, 0, 40, 50, 40, 50, 80]), [0, 0, 0, 26, 50, 54, 50, 80]);
});

test("a hostile document is read", () => {
    const graph = graphOf(hostile());
    const request = m.requestOf(
        graph,
        m.visibleOf(graph, new Set(graph.items.map((i) => i.index))),
    );
    m.layoutNested(request);
    m.search(m.buildIndex([graph]), "script");
});
