// SPDX-License-Identifier: Apache-2.0
// The numbers of an example as matrices, from the text of its test.
const kMaxItems = 40;

function shapeOf(value) {
    const shape = [];
    for (let v = value; Array.isArray(v); v = v[0]) shape.push(v.length);
    return shape;
}

// A tensor as rows of a matrix, or nothing if it has more than two axes longer than 1.
function rowsOf(value) {
    const shape = shapeOf(value);
    if (shape.reduce((a, b) => a * b, 1) > kMaxItems) return null;
    let rest = value;
    while (shape.length > 2 && shape[0] === 1) {
        rest = rest[0];
        shape.shift();
    }
    // [[[1]], [[2]]] is a column.
    while (shape.length > 2 && shape[shape.length - 1] === 1) {
        const flat = (v, depth) => (depth === 1 ? v[0] : v.map((each) => flat(each, depth - 1)));
        rest = flat(rest, shape.length);
        shape.pop();
    }
    if (shape.length > 2) return null;
    if (shape.length === 0) return [[rest]];
    return shape.length === 1 ? [rest] : rest;
}

const kSigns = { "-": "−" };
function item(value) {
    if (typeof value !== "number") return `<mtext>${String(value)}</mtext>`;
    return `<mn>${String(value).replace("-", kSigns["-"])}</mn>`;
}

function matrix(value) {
    const rows = rowsOf(value);
    if (!rows) return null;
    if (!Array.isArray(value)) return item(value);
    const cells = rows.map(
        (row) => `<mtr>${row.map((v) => `<mtd>${item(v)}</mtd>`).join("")}</mtr>`,
    );
    return `<mrow><mo stretchy="true">[</mo><mtable>${cells.join("")}</mtable><mo stretchy="true">]</mo></mrow>`;
}

function named(name, value) {
    const drawn = matrix(value);
    return drawn && `<math><mrow><mi class="word">${name}</mi><mo>=</mo>${drawn}</mrow></math>`;
}

// Inputs, an arrow, outputs; empty if a tensor has no such form.
export function exampleHtml(test) {
    const drawn = { input: [], variable: [], output: [] };
    for (const [, kind, name, text] of test.matchAll(
        /^(input|variable|output) ([\w.]+) = (.*)$/gm,
    )) {
        const math = named(name, JSON.parse(text));
        if (!math) return "";
        drawn[kind].push(math);
    }
    const side = (parts) => `<div>${parts.join("")}</div>`;
    const inputs = [...drawn.input, ...drawn.variable];
    if (!drawn.output.length) return "";
    const left = inputs.length
        ? `${side(inputs)}<span class="arrow" aria-label="gives">→</span>`
        : "";
    return `<div class="formula numbers">${left}${side(drawn.output)}</div>`;
}
