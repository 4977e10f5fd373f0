// SPDX-License-Identifier: Apache-2.0
// Draws a formula tree as MathML. The tree is hostile input: depth and size are bounded, and what is
// not understood becomes text.

import type { Formula, Tree } from "../document";
import { clean } from "../text";

const kSpace = "http://www.w3.org/1998/Math/MathML";
const kMaxDepth = 60;
const kMaxNodes = 5000;

// The part of the document object that drawing needs; tests pass a small one of their own.
export interface Maker {
    createElementNS(space: string, tag: string): Element;
}

// A higher number binds tighter.
const kBinding: Record<string, number> = {
    "=": 1,
    "+=": 1,
    "-=": 1,
    "*=": 1,
    ":=": 1,
    "<-": 1,
    "min=": 1,
    "max=": 1,
    "&=": 1,
    "|=": 1,
    xor: 2,
    or: 2,
    "||": 2,
    and: 3,
    "&&": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    in: 4,
    "|": 2,
    "&": 3,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "\\": 6,
    "%": 6,
    mod: 6,
    "^": 8,
    "**": 8,
};
const kSigns: Record<string, string> = {
    "*": "·",
    "<=": "≤",
    ">=": "≥",
    "!=": "≠",
    "==": "=",
    and: "∧",
    "&&": "∧",
    or: "∨",
    "||": "∨",
    not: "¬",
    "!": "¬",
    "-": "−",
    "%": "mod",
    xor: "⊕",
    "<-": "←",
    in: "∈",
    ":=": "≔",
    "\\": "÷",
};
const kLarge: Record<string, string> = {
    sum: "∑",
    prod: "∏",
    max: "max",
    min: "min",
    any: "⋁",
    all: "⋀",
};
const kGreek: Record<string, string> = {
    alpha: "α",
    beta: "β",
    gamma: "γ",
    delta: "δ",
    epsilon: "ε",
    eps: "ε",
    lambda: "λ",
    mu: "μ",
    sigma: "σ",
    theta: "θ",
    rho: "ρ",
    phi: "φ",
    tau: "τ",
    pi: "π",
    inf: "∞",
};

class Drawer {
    private nodes = 0;
    constructor(
        private readonly maker: Maker,
        private readonly ranges: Map<string, [string, string]>,
    ) {}

    element(tag: string, ...children: (Element | string)[]): Element {
        const element = this.maker.createElementNS(kSpace, tag);
        for (const child of children) element.append(child);
        return element;
    }
    row(...children: Element[]): Element {
        return this.element("mrow", ...children);
    }
    sign(text: string, form = ""): Element {
        const mo = this.element("mo", text);
        if (form) mo.setAttribute("stretchy", form);
        return mo;
    }
    name(text: string): Element {
        const shown =
            kGreek[text] ??
            clean(text, 60).replace(
                /^([A-Za-z])(\d{1,3})$/,
                (_, letter: string, number: string) =>
                    letter + [...number].map((d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]).join(""),
            );
        const mi = this.element("mi", shown);
        if (/^\w{2,}/.test(shown)) mi.setAttribute("class", "word");
        else if (shown.length > 1) mi.setAttribute("class", "letter");
        return mi;
    }
    joined(trees: Tree[], depth: number): Element[] {
        const out: Element[] = [];
        trees.forEach((t, i) => {
            if (i) out.push(this.sign(","));
            out.push(this.tree(t, depth + 1, 0));
        });
        return out;
    }
    brackets(inner: Element, wrap: boolean): Element {
        return wrap ? this.row(this.sign("("), inner, this.sign(")")) : inner;
    }

    tree(t: Tree, depth: number, outer: number): Element {
        if (++this.nodes > kMaxNodes || depth > kMaxDepth || t === null || typeof t !== "object")
            return this.element("mtext", "…");
        switch (t.k) {
            case "num":
                return this.element("mn", t.v === "inf" ? "∞" : clean(t.v, 40));
            case "name":
                return this.name(String(t.v));
            case "index": {
                const at = Array.isArray(t.at) ? t.at : [];
                const of = this.tree(t.of, depth + 1, 20);
                return at.length
                    ? this.element("msub", of, this.row(...this.joined(at, depth)))
                    : of;
            }
            case "neg":
                return this.brackets(
                    this.row(this.sign("−"), this.tree(t.of, depth + 1, 7)),
                    outer > 5,
                );
            case "op":
                return this.operation(
                    String(t.v),
                    Array.isArray(t.args) ? t.args : [],
                    depth,
                    outer,
                );
            case "call":
                return this.call(String(t.v), Array.isArray(t.args) ? t.args : [], depth);
            case "sum":
            case "prod":
            case "max":
            case "min":
            case "any":
            case "all":
                return this.large(t, depth, outer);
            case "cases":
                return this.cases(t, depth);
            default:
                return this.element("mtext", "?");
        }
    }

    private operation(sign: string, args: Tree[], depth: number, outer: number): Element {
        if (sign === ",") {
            const table = this.element(
                "mtable",
                ...args.map((a) =>
                    this.element("mtr", this.element("mtd", this.tree(a, depth + 1, 0))),
                ),
            );
            table.setAttribute("class", "lines");
            return table;
        }
        const binding = kBinding[sign] ?? 4;
        if (args.length === 1)
            return this.row(
                this.sign(kSigns[sign] ?? clean(sign, 10)),
                this.tree(args[0], depth + 1, 7),
            );
        if (sign === "/" && args.length === 2) {
            return this.element(
                "mfrac",
                this.row(this.tree(args[0], depth + 1, 0)),
                this.row(this.tree(args[1], depth + 1, 0)),
            );
        }
        if ((sign === "^" || sign === "**") && args.length === 2) {
            return this.element(
                "msup",
                this.row(this.tree(args[0], depth + 1, 9)),
                this.row(this.tree(args[1], depth + 1, 0)),
            );
        }
        const parts: Element[] = [];
        args.forEach((arg, i) => {
            if (i) parts.push(this.sign(kSigns[sign] ?? clean(sign, 10)));
            // a − (b − c) keeps its brackets, a − b − c has none.
            parts.push(
                this.tree(
                    arg,
                    depth + 1,
                    i && (sign === "-" || sign === "\\" || sign === "%") ? binding + 1 : binding,
                ),
            );
        });
        return this.brackets(this.row(...parts), binding < outer);
    }

    private call(name: string, args: Tree[], depth: number): Element {
        if (name === "sqrt" && args.length === 1)
            return this.element("msqrt", this.tree(args[0], depth + 1, 0));
        if (name === "abs" && args.length === 1)
            return this.row(this.sign("|"), this.tree(args[0], depth + 1, 0), this.sign("|"));
        if (name === "floor" && args.length === 1)
            return this.row(this.sign("⌊"), this.tree(args[0], depth + 1, 0), this.sign("⌋"));
        if (name === "ceil" && args.length === 1)
            return this.row(this.sign("⌈"), this.tree(args[0], depth + 1, 0), this.sign("⌉"));
        if (name === "exp" && args.length === 1)
            return this.element(
                "msup",
                this.element("mi", "e"),
                this.row(this.tree(args[0], depth + 1, 0)),
            );
        if (name === "sqr" && args.length === 1)
            return this.element(
                "msup",
                this.row(this.tree(args[0], depth + 1, 9)),
                this.element("mn", "2"),
            );
        const f = this.element("mi", clean(name, 60));
        f.setAttribute("class", "word");
        return this.row(
            f,
            this.sign("\u2061"),
            this.row(this.sign("("), ...this.joined(args, depth), this.sign(")")),
        );
    }

    // A large sign with its ranges below: one line per index.
    private large(
        t: { k: string; over: string[]; of: Tree },
        depth: number,
        outer: number,
    ): Element {
        const over = Array.isArray(t.over) ? t.over : [];
        const big = this.sign(kLarge[t.k] ?? "?");
        const lines = over.map((i) => {
            const range = this.ranges.get(i);
            if (!range) return this.name(String(i));
            const to = this.bound(range[1]);
            return this.row(
                this.bound(range[0]),
                this.sign("≤"),
                this.name(String(i)),
                this.sign("<"),
                to,
            );
        });
        const below =
            lines.length === 1
                ? lines[0]
                : this.element(
                      "mtable",
                      ...lines.map((l) => this.element("mtr", this.element("mtd", l))),
                  );
        below.setAttribute("class", "below");
        const head = this.element("munder", big, lines.length ? below : this.row());
        return this.brackets(this.row(head, this.tree(t.of, depth + 1, 6)), outer > 5);
    }
    bound(text: string): Element {
        const shown = clean(text, 40);
        return /^\d+$/.test(shown) ? this.element("mn", shown) : this.name(shown);
    }

    private cases(t: { arms: [Tree | null, Tree][] }, depth: number): Element {
        const rows = (Array.isArray(t.arms) ? t.arms : []).slice(0, 50).map((arm) => {
            const [condition, value] = Array.isArray(arm)
                ? arm
                : [null, { k: "num", v: "?" } as Tree];
            const when = condition
                ? this.row(this.word("if "), this.tree(condition, depth + 1, 0))
                : this.word("otherwise");
            const cells = [
                this.element("mtd", this.tree(value, depth + 1, 0)),
                this.element("mtd", when),
            ];
            return this.element("mtr", ...cells);
        });
        const table = this.element("mtable", ...rows);
        table.setAttribute("class", "cases");
        return this.row(this.sign("{", "true"), table);
    }
    private word(text: string): Element {
        return this.element("mtext", text.replace(/ /g, "\u00a0"));
    }
}

// The indices under a large sign have their ranges there; the others stand behind the formula.
function usedByLarge(t: unknown, out: Set<string>, depth: number): void {
    if (depth > kMaxDepth || t === null || typeof t !== "object") return;
    const node = t as { over?: unknown };
    if (Array.isArray(node.over)) for (const i of node.over) out.add(String(i));
    for (const value of Object.values(node)) {
        if (Array.isArray(value))
            value.forEach((v) =>
                Array.isArray(v)
                    ? v.forEach((w) => usedByLarge(w, out, depth + 1))
                    : usedByLarge(v, out, depth + 1),
            );
        else usedByLarge(value, out, depth + 1);
    }
}

function rangesOf(formula: Formula): [string, string, string][] {
    return (Array.isArray(formula.ranges) ? formula.ranges : [])
        .filter((r) => Array.isArray(r))
        .slice(0, 40)
        .map((r) => [String(r[0]), String(r[1]), String(r[2])]);
}

// The formula as one <math> element, or nothing if it has no tree.
export function drawFormula(formula: Formula, maker: Maker): Element | null {
    if (!formula.tree) return null;
    const ranges = rangesOf(formula);
    const drawer = new Drawer(maker, new Map(ranges.map(([i, a, b]) => [i, [a, b]])));
    const math = drawer.element("math", drawer.tree(formula.tree, 0, 0));
    math.setAttribute("display", "block");
    return math;
}

// The ranges of the free indices, and the conditions, one element each: "0 ≤ i < 32".
export function drawRanges(formula: Formula, maker: Maker): Element[] {
    const bound = new Set<string>();
    usedByLarge(formula.tree, bound, 0);
    const drawer = new Drawer(maker, new Map());
    const out: Element[] = [];
    for (const [i, a, b] of rangesOf(formula)) {
        if (bound.has(i)) continue;
        out.push(
            drawer.element(
                "math",
                drawer.row(
                    drawer.bound(a),
                    drawer.sign("≤"),
                    drawer.name(i),
                    drawer.sign("<"),
                    drawer.bound(b),
                ),
            ),
        );
    }
    for (const c of Array.isArray(formula.conditions) ? formula.conditions.slice(0, 20) : [])
        out.push(drawer.element("math", drawer.tree(c, 0, 0)));
    return out;
}

// What the names of the formula stand for: "t = …", one element each.
export function drawLets(formula: Formula, maker: Maker): Element[] {
    const lets = Array.isArray(formula.lets) ? formula.lets.slice(0, 40) : [];
    return lets
        .filter((l) => Array.isArray(l))
        .map(([name, tree]) => {
            const drawer = new Drawer(maker, new Map());
            return drawer.element(
                "math",
                drawer.row(drawer.name(String(name)), drawer.sign("="), drawer.tree(tree, 0, 0)),
            );
        });
}
