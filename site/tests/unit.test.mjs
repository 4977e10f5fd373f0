// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkSite } from "../check.mjs";
import { equationsOf } from "../lib/composition.mjs";
import { exampleHtml } from "../lib/example.mjs";
import { Reader, Unreadable } from "../lib/expression.mjs";
import { formulasOf } from "../lib/formula.mjs";
import { itemsOf, membersOf, naming, withoutBody } from "../lib/headers.mjs";

const lower = (text) => formulasOf(`operator x {\n    @lower {\n        ${text}\n    }\n}`);

test("expressions bind as the language says", () => {
    const tree = new Reader("a + b << c ?? d").expression();
    assert.equal(tree.k, "otherwise");
    assert.deepEqual(tree.of.v, "<<");
    assert.equal(tree.of.args[0].v, "+");
});

test("an index that is missing on the left is a sum", () => {
    const [formula] = lower("y[i, j] += a[i, k] * b[k, j], i < m, j < n, k < l;");
    assert.equal(formula.tree.v, "=");
    assert.equal(formula.tree.args[1].k, "sum");
    assert.deepEqual(formula.tree.args[1].over, ["k"]);
    assert.deepEqual(formula.ranges[2], ["k", "0", "l"]);
});

test("a sum behind a start adds to it", () => {
    const [, formula] = lower("y[] = 1.0;\n        y[] += x[i,], i < n;");
    assert.equal(formula.tree.v, "<-");
    assert.equal(formula.tree.args[1].v, "+");
});

test("an index of several cases gets a name", () => {
    const [formula] = lower("y[i..] = x[(s is 1 ? 0 : i)..], i < n;");
    assert.deepEqual(formula.tree.args[1].at, [{ k: "name", v: "p" }]);
    assert.equal(formula.lets[0][0], "p");
});

test("an index that is replaced along some axes has two cases", () => {
    const [formula] = lower("from = i[dims] <- i[dims] * 2, y[i..] = x[from..], i < n;");
    const [[condition], [otherwise]] = formula.lets[0][1].arms;
    assert.equal(condition.v, "in");
    assert.equal(otherwise, null);
});

test("division of indices rounds down", () => {
    const [formula] = lower("y[i,] = x[i / 2,] / 2.0, i < n;");
    assert.equal(formula.tree.args[1].v, "/");
    assert.equal(formula.tree.args[1].args[0].at[0].v, "floor");
});

test("what cannot be read is said", () => {
    assert.throws(() => lower("y[i] = ;"), Unreadable);
    assert.throws(() => lower("y[i] = x[i"), Unreadable);
});

test("steps of a composition that are used once stand where they are used", () => {
    const text =
        "operator x {\n    @compose {\n        a = math.exp(x);\n        y = math.div(a, s);\n    }\n}";
    const equations = equationsOf(text);
    assert.equal(equations.length, 1);
    assert.equal(equations[0].tree.args[1].v, "/");
});

test("the numbers of an example are matrices, unless they have too many axes", () => {
    const html = exampleHtml("case a\ninput x = [[[1, -2]], [[3, 4]]]\noutput y = 5\n");
    assert.equal(html, "");
    const small = exampleHtml("case a\ninput x = [[[1, -2], [3, 4]]]\noutput y = 5\n");
    assert.equal(small.match(/<mtr>/g).length, 2);
    assert.match(small, /<mn>−2<\/mn>/);
});

test("declarations have the comments above and behind them", () => {
    const items = itemsOf(
        "/* ---- Parts ---- */\n\n/* Makes one. */\nint make(void);\n\nint count; // of all\n",
    );
    assert.deepEqual(items[0], { section: "Parts" });
    assert.equal(items[1].comment, "Makes one.");
    assert.equal(items[2].comment, "of all");
    assert.deepEqual(naming(items[1].code), { kind: "function", name: "make" });
});

test("members of a class have no bodies, and private ones are left out", () => {
    const text =
        "class A {\npublic:\n    A() : b_(1) {}\n    // The b.\n    int b() const { return b_; }\n\nprivate:\n    int b_;\n};";
    const members = membersOf(text);
    assert.deepEqual(
        members.map((m) => m.code),
        ["A();", "int b() const;"],
    );
    assert.equal(withoutBody("int f(int x = {}) { return x; }"), "int f(int x = {});");
});

test("the check of links finds dead ones", () => {
    const folder = mkdtempSync(join(tmpdir(), "lemma-site-"));
    mkdirSync(join(folder, "a"));
    writeFileSync(
        join(folder, "index.html"),
        '<h1 id="x">X</h1><a href="a/b.html#y">1</a><a href="#z">2</a><a href="/c">3</a><a href="d.html">4</a><img src="e.png">',
    );
    writeFileSync(
        join(folder, "a/b.html"),
        '<p id="y"></p><p id="y"></p><a href="../index.html#x">ok</a><a href="../../f">5</a>',
    );
    const { pages, links, faults } = checkSite(folder);
    assert.equal(pages, 2);
    assert.equal(links, 7);
    assert.deepEqual(
        faults.map((f) => f.split(": ").slice(1).join(": ")).sort(),
        [
            "#z: there is no such anchor",
            "../../f leads out of the site",
            "/c does not work below another folder",
            "d.html leads nowhere",
            "e.png leads nowhere",
            "the id `y` is there twice",
        ].sort(),
    );
});
