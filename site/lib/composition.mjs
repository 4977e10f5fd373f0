// SPDX-License-Identifier: Apache-2.0
// What an operator that consists of others computes, as equations: calls such as `math.div(a, b)` are
// drawn as fractions and the like, and a result that is used once stands where it is used.
import { Reader, Unreadable } from "./expression.mjs";
import { blockOf, optionalNames, Simplifier } from "./formula.mjs";

const name = (v) => ({ k: "name", v });
const op = (v, ...args) => ({ k: "op", v, args });
const kSigns = { add: "+", sub: "-", mul: "*", div: "/", pow: "**" };
const kFunctions = ["min", "max", "sqr", "sqrt", "exp", "log", "abs"];
const kReductions = {
    sum_reduce: "sum",
    prod_reduce: "prod",
    max_reduce: "max",
    min_reduce: "min",
};

// expr: `if` condition `then` expr {`elif` …} `else` expr | expr
function readValue(reader) {
    if (reader.is("{")) return readBlock(reader);
    if (!reader.accept("if")) return reader.expression();
    const condition = reader.expression();
    reader.expect("then");
    const yes = readValue(reader);
    if (reader.is("elif")) {
        reader.tokens[reader.at] = { kind: "name", value: "if" };
        return { k: "choice", condition, yes, no: readValue(reader) };
    }
    reader.expect("else");
    return { k: "choice", condition, yes, no: readValue(reader) };
}

// block: `{` {statement} `yield` expr {, expr} `;` `}`; the steps stand where they are used.
function readBlock(reader) {
    reader.expect("{");
    const steps = readStatements(reader);
    reader.expect("yield");
    const results = [reader.expression()];
    while (reader.accept(",")) results.push(reader.expression());
    reader.expect(";");
    reader.expect("}");
    const value = results.length === 1 ? results[0] : { k: "list", items: results };
    return steps.reduceRight(
        (tree, { targets, value: by }) => replaced(tree, targets[0], by),
        value,
    );
}

function readStatements(reader) {
    const found = [];
    while (!reader.done && !reader.is("yield")) {
        const targets = [reader.name()];
        while (reader.accept(",")) targets.push(reader.name());
        reader.expect("=");
        found.push({ targets, value: readValue(reader) });
        reader.expect(";");
    }
    return found;
}

class Composer extends Simplifier {
    invocation(t) {
        const short = t.v.split(".").pop();
        const args = this.trees(t.args);
        const attribute = (key) => t.attributes.find(([k]) => k === key)?.[1];
        if (kSigns[short] && args.length === 2) return op(kSigns[short], ...args);
        if (kFunctions.includes(short)) return { k: "call", v: short, args };
        if (short === "_divide") return op("/", args[0], this.tree(attribute("count")));
        if (short === "_abs_pow")
            return op("**", { k: "call", v: "abs", args }, this.tree(attribute("p")));
        if (short === "neg") return { k: "neg", of: args[0] };
        if (short === "rcp") return op("/", { k: "num", v: "1" }, args[0]);
        if (kReductions[short])
            return { k: kReductions[short], over: [this.axes(attribute("axes"))], of: args[0] };
        if (short === "mean_reduce") {
            const mean = { k: "index", of: name("mean"), at: [name(this.axes(attribute("axes")))] };
            return op("", mean, { k: "call", v: "", args });
        }
        if (/^real$|^int$/.test(t.v)) return args[0];
        const shown = t.attributes
            .filter(([k, v]) => !(v.k === "name" && v.v === k))
            .slice(0, 2)
            .map(([k, v]) => op("=", name(k), this.tree(v)));
        return { k: "call", v: short.replace(/^_/, ""), args: [...args, ...shown] };
    }
    axes(t) {
        if (!t || t.k === "name") return t?.v ?? "axes";
        return "axes";
    }
}

function uses(tree, wanted) {
    if (Array.isArray(tree)) return tree.reduce((n, t) => n + uses(t, wanted), 0);
    if (!tree || typeof tree !== "object") return 0;
    const here = tree.k === "name" && tree.v === wanted ? 1 : 0;
    return here + Object.values(tree).reduce((n, t) => n + uses(t, wanted), 0);
}

function replaced(tree, wanted, by) {
    if (Array.isArray(tree)) return tree.map((t) => replaced(t, wanted, by));
    if (!tree || typeof tree !== "object") return tree;
    if (tree.k === "name" && tree.v === wanted) return by;
    return Object.fromEntries(Object.entries(tree).map(([k, v]) => [k, replaced(v, wanted, by)]));
}

const isShort = (tree) =>
    JSON.stringify(tree).length < 420 && !JSON.stringify(tree).includes('"cases"');

// An equation for each step. Throws Unreadable if the text has what cannot be drawn.
export function equationsOf(definition) {
    const text = blockOf(definition, "compose");
    if (!text) return [];
    const composer = new Composer(optionalNames(definition), new Set());
    let steps = readStatements(new Reader(text)).map(({ targets, value }) => ({
        targets,
        value: composer.tree(value),
    }));
    for (let i = 0; i < steps.length - 1; i++) {
        const { targets, value } = steps[i];
        const later = steps.slice(i + 1).map((s) => s.value);
        if (targets.length > 1 || uses(later, targets[0]) !== 1 || !isShort(value)) continue;
        const user = steps.findIndex((s, j) => j > i && uses(s.value, targets[0]) === 1);
        const joined = replaced(steps[user].value, targets[0], value);
        if (JSON.stringify(joined).includes('"cases"')) continue;
        steps[user] = { ...steps[user], value: joined };
        steps[i] = null;
        steps = steps.filter(Boolean);
        i--;
    }
    return steps.map(({ targets, value }) => {
        const left =
            targets.length === 1 ? name(targets[0]) : { k: "call", v: "", args: targets.map(name) };
        return { tree: op("=", left, value), ranges: [], conditions: [], lets: [] };
    });
}

// The operators that it calls, in order: `math.exp`, or `sum_pool` of the same module.
export function callsOf(definition) {
    const text = blockOf(definition, "compose") + blockOf(definition, "update");
    const found = [...text.matchAll(/([A-Za-z_][\w.]*)(?:<\w+>)?(?:\{[^{}]*\})?\(/g)].map(
        (m) => m[1],
    );
    return [...new Set(found)].filter((n) => !["real", "int", "bool"].includes(n));
}

export { Unreadable };
