// SPDX-License-Identifier: Apache-2.0
// Formulas as MathML text, drawn by the code of the viewer.
import { build } from "esbuild";
import { join } from "node:path";

const kEscapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => kEscapes[c]);

// As much of a document as the drawing needs.
class Node {
    constructor(tag) {
        this.tag = tag;
        this.attributes = "";
        this.children = [];
    }
    append(...children) {
        this.children.push(...children);
    }
    setAttribute(key, value) {
        this.attributes += ` ${key}="${escaped(value)}"`;
    }
    toString() {
        const inner = this.children.map((c) => (typeof c === "string" ? escaped(c) : String(c)));
        return `<${this.tag}${this.attributes}>${inner.join("")}</${this.tag}>`;
    }
}
const maker = { createElementNS: (_, tag) => new Node(tag) };

export async function loadDrawing(root) {
    const bundled = await build({
        entryPoints: [join(root, "viewer/src/math/mathml.ts")],
        bundle: true,
        write: false,
        format: "esm",
        logLevel: "warning",
    });
    const code = Buffer.from(bundled.outputFiles[0].text).toString("base64");
    const drawing = await import(`data:text/javascript;base64,${code}`);
    return (formula) => ({
        formula: String(drawing.drawFormula(formula, maker)),
        ranges: drawing.drawRanges(formula, maker).map(String),
        lets: drawing.drawLets(formula, maker).map(String),
    });
}
