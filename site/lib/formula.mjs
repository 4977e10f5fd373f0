// SPDX-License-Identifier: Apache-2.0
// The formulas of an operator, from the text of its definition, in the form that the drawing of the
// viewer takes (viewer/src/math/mathml.ts): a tree, the ranges of its indices, and names for parts.
import { Reader, Unreadable } from "./expression.mjs";

const kAssignments = ["=", "+=", "*=", "<=", ">=", "&=", "|=", ":="];
const kReductions = {
    "+=": "sum",
    "*=": "prod",
    "<=": "min",
    ">=": "max",
    "&=": "all",
    "|=": "any",
};
const kCombined = { "+=": "+", "*=": "*", "&=": "&&", "|=": "||" };
const kFolds = { "+": "sum", "*": "prod", "&&": "all", "||": "any", "<<": "min", ">>": "max" };
const kFreeNames = ["p", "q", "r", "u", "v", "w", "g", "h"];

const name = (v) => ({ k: "name", v });
const op = (v, ...args) => ({ k: "op", v, args });

// The text of a block of the definition, such as `@lower`; empty if there is none.
export function blockOf(definition, block) {
    const lines = definition.split("\n");
    const begin = lines.indexOf(`    @${block} {`);
    if (begin < 0) return "";
    const end = lines.indexOf("    }", begin);
    return lines.slice(begin + 1, end).join("\n");
}

// Names that may have no value: `bias: optional real[c];`.
export const optionalNames = (definition) =>
    new Set([...definition.matchAll(/^ +(\w+): optional /gm)].map((m) => m[1]));

function namesIn(tree, found = new Set()) {
    if (Array.isArray(tree)) tree.forEach((t) => namesIn(t, found));
    else if (tree && typeof tree === "object") {
        if (tree.k === "name") found.add(tree.v);
        Object.values(tree).forEach((t) => namesIn(t, found));
    }
    return found;
}

// ---- Statements ----------------------------------------------------------------------------------

// [unroll..(k -> n)] {name = expr ,} target assignment expr {, index < bound} [| condition] ;
function readStatement(reader) {
    const statement = { locals: [], ranges: [], conditions: [] };
    if (reader.accept("unroll")) {
        reader.expect("..");
        reader.expect("(");
        const index = reader.name();
        reader.expect("->");
        statement.ranges.push([index, reader.expression()]);
        reader.expect(")");
    }
    while (!statement.target) {
        const left = reader.postfix();
        const sign = kAssignments.find((s) => reader.accept(s));
        if (!sign) throw new Unreadable(`no assignment before ${reader.next}`);
        const value = reader.expression();
        if (left.k === "name" && !reader.is(";")) {
            statement.locals.push([left.v, value]);
            reader.expect(",");
        } else {
            Object.assign(statement, { target: left, sign, value });
        }
    }
    while (reader.accept(",")) {
        const index = reader.name();
        reader.expect("<");
        statement.ranges.push([index, reader.binary(2)]);
    }
    if (reader.accept("|")) statement.conditions.push(reader.expression());
    reader.expect(";");
    return statement;
}

// ---- From the tree of the language to that of the drawing ------------------------------------------

export class Simplifier {
    constructor(optional, taken) {
        this.optional = optional;
        this.taken = taken;
        this.lifted = new Map(); // text of an index → its name and tree
        this.guarded = false;
        this.integers = 0; // inside of indices and bounds, where division rounds down
    }
    integer(tree) {
        this.integers++;
        const drawn = this.tree(tree);
        this.integers--;
        return drawn;
    }
    // Attributes, helpers and inputs that may be missing decide: `bias[i] ?? 0`.
    missing(tree) {
        const names = [...namesIn(tree)];
        return names.find((n) => this.optional.has(n)) ?? names[0] ?? "it";
    }
    // An index of several cases gets a name.
    index(tree) {
        const of = this.integer(tree);
        const key = JSON.stringify(of);
        if (!key.includes('"cases"')) return of;
        if (!this.lifted.has(key)) {
            const free = kFreeNames.find((n) => !this.taken.has(n));
            if (!free) throw new Unreadable("too many indices");
            this.taken.add(free);
            this.lifted.set(key, { free, of });
        }
        return name(this.lifted.get(key).free);
    }
    trees(list) {
        return list.map((t) => this.tree(t));
    }
    tree(t) {
        switch (t.k) {
            case "num":
            case "name":
                return t;
            case "text":
                return name(t.v);
            case "neg":
                return { k: "neg", of: this.tree(t.of) };
            case "index":
                return { k: "index", of: this.tree(t.of), at: t.at.map((a) => this.index(a)) };
            case "list":
                return { k: "call", v: "", args: this.trees(t.items) };
            case "slice":
                return op(":", ...t.parts.map((p) => (p ? this.tree(p) : name(" "))));
            case "pack":
                return t.length ? op("**", this.tree(t.of), this.tree(t.length)) : this.tree(t.of);
            case "fold":
                if (!kFolds[t.v]) throw new Unreadable(`fold ${t.v}`);
                return { k: kFolds[t.v], over: [], of: this.tree(t.of) };
            case "update": {
                // `i[axes] <- e` is `e` along the axes and `i` along the others.
                if (t.of.k !== "index") throw new Unreadable("update of a part");
                const among = op("in", name("its axis"), this.integer(t.of.at[0]));
                return {
                    k: "cases",
                    arms: [
                        [among, this.integer(t.with)],
                        [null, this.tree(t.of.of)],
                    ],
                };
            }
            case "op":
                return this.operation(t);
            case "given":
                return name(`${this.missing(t.of)} is given`);
            default:
                return this.branch(t);
        }
    }
    operation(t) {
        const args = this.trees(t.args);
        if (t.v === "\\") return { k: "call", v: "ceil", args: [op("/", ...args)] };
        if (t.v === "/" && this.integers)
            return { k: "call", v: "floor", args: [op("/", ...args)] };
        if (t.v === "<<") return { k: "call", v: "min", args };
        if (t.v === ">>") return { k: "call", v: "max", args };
        if (t.v === "is") return op("==", ...args);
        if (t.v === "^") return op("xor", ...args);
        return op(t.v, ...args);
    }
    branch(t) {
        switch (t.k) {
            case "guard": {
                const of = this.tree(t.of);
                if (!t.low) {
                    this.guarded = true;
                    return of;
                }
                const arms = [[name("below the first"), this.tree(t.low)]];
                if (t.high) arms.push([name("beyond the last"), this.tree(t.high)]);
                return { k: "cases", arms: [...arms, [null, of]] };
            }
            case "choice": {
                if (!t.no) return this.tree(t.yes);
                const rest = this.tree(t.no);
                const first = [this.tree(t.condition), this.tree(t.yes)];
                return {
                    k: "cases",
                    arms: [first, ...(rest.k === "cases" ? rest.arms : [[null, rest]])],
                };
            }
            case "otherwise":
                return {
                    k: "cases",
                    arms: [
                        [name(`${this.missing(t.of)} is given`), this.tree(t.of)],
                        [null, this.tree(t.or)],
                    ],
                };
            case "invoke":
                return this.invocation(t);
            default:
                throw new Unreadable(`no drawing of ${t.k}`);
        }
    }
    // Conversions of numbers and indices are not drawn.
    invocation(t) {
        const [first] = t.args;
        if (/^[A-Z]$|^real$/.test(t.v) && (!first || first.k !== "index"))
            return first ? this.tree(first) : { k: "num", v: "0" };
        return { k: "call", v: t.v, args: this.trees(t.args) };
    }
}

// ---- Formulas ------------------------------------------------------------------------------------

const spaced = (t) => t.replace(/\s+/g, " ");
// Bounds are texts, as in the document of the viewer.
function boundText(t) {
    switch (t.k) {
        case "num":
        case "name":
            return t.v;
        case "index":
            return `${boundText(t.of)}[${t.at.map(boundText).join(", ")}]`;
        case "op":
            return t.args.length === 2
                ? `${boundText(t.args[0])} ${t.v === "-" ? "−" : t.v} ${boundText(t.args[1])}`
                : `${t.v}${boundText(t.args[0])}`;
        case "call":
            return `${t.v}(${t.args.map(boundText).join(", ")})`;
        case "cases":
            return `(${t.arms.map(([, v]) => boundText(v)).join(" or ")})`;
        default:
            throw new Unreadable(`no text of ${t.k}`);
    }
}

// Indices of the target, also through local names.
function reached(statement) {
    const found = namesIn(statement.target.at ?? []);
    namesIn(statement.target.of, found);
    for (const [local, value] of statement.locals.toReversed?.() ?? [...statement.locals].reverse())
        if (found.has(local)) namesIn(value, found);
    return found;
}

function drawnStatement(statement, simplifier, started) {
    const target = simplifier.tree(statement.target);
    let value = simplifier.tree(statement.value);
    const kept = reached(statement);
    const over = statement.ranges.map(([i]) => i).filter((i) => !kept.has(i));
    const reduction = kReductions[statement.sign];
    let sign = statement.sign === ":=" ? "<-" : "=";
    if (reduction && over.length) {
        value = { k: reduction, over, of: value };
        if (started) {
            sign = "<-";
            const combined = kCombined[statement.sign];
            value = combined
                ? op(combined, target, value)
                : { k: "call", v: reduction, args: [target, value] };
        }
    } else if (reduction) {
        // Several elements meet in one of the result.
        const combined = kCombined[statement.sign];
        sign = "<-";
        value = combined
            ? op(combined, target, value)
            : { k: "call", v: reduction, args: [target, value] };
    }
    return {
        tree: op(sign, target, value),
        ranges: statement.ranges.map(([i, b]) => [
            i,
            "0",
            spaced(boundText(simplifier.integer(b))),
        ]),
        conditions: statement.conditions.map((c) => simplifier.tree(c)),
        lets: statement.locals.map(([n, v]) => [n, simplifier.tree(v)]),
    };
}

// A formula for each statement of `@lower`. Throws Unreadable if the text has what cannot be drawn.
export function formulasOf(definition) {
    const text = blockOf(definition, "lower");
    if (!text) return [];
    const optional = optionalNames(definition);
    const reader = new Reader(text);
    const statements = [];
    while (!reader.done) statements.push(readStatement(reader));
    const started = new Set();
    return statements.map((statement) => {
        const simplifier = new Simplifier(optional, namesIn(statement));
        const drawn = drawnStatement(statement, simplifier, started.has(targetName(statement)));
        started.add(targetName(statement));
        for (const { free, of } of simplifier.lifted.values()) drawn.lets.push([free, of]);
        return { ...drawn, guarded: simplifier.guarded };
    });
}

function targetName(statement) {
    let target = statement.target;
    while (target.k === "index") target = target.of;
    return target.v;
}
