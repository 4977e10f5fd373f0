// SPDX-License-Identifier: Apache-2.0
// Adds the formula of an operator to its page, as mathematics.
import { callsOf, equationsOf } from "./composition.mjs";
import { exampleHtml } from "./example.mjs";
import { Unreadable } from "./expression.mjs";
import { formulasOf } from "./formula.mjs";

const kPage = /^docs\/operators\/(\w+)\/(\w+)\.md$/;
export const isOperator = (page) => kPage.test(page.source);

function formulaHtml(draw, formula) {
    const { formula: math, ranges, lets } = draw(formula);
    let html = `<div class="equation">${math}</div>`;
    if (lets.length)
        html += `<div class="where"><span>where</span>${lets.map((l) => `<div>${l}</div>`).join("")}</div>`;
    if (ranges.length) html += `<div class="ranges">for ${ranges.join(", ")}</div>`;
    if (formula.guarded)
        html +=
            '<div class="ranges">Terms whose index is outside of the tensor are left out.</div>';
    return html;
}

// Equations of a composition belong together; each statement of a formula stands for itself.
const boxes = (parts) => parts.map((part) => `<div class="formula">${part}</div>`).join("\n\n");

function callLinks(module, definition, known) {
    const links = callsOf(definition).flatMap((call) => {
        const [from, name] = call.includes(".") ? call.split(".") : [module, call];
        if (!known.has(`docs/operators/${from}/${name}.md`)) return [];
        return [`[${from}.${name}](../${from}/${name}.md)`];
    });
    return links.length ? `Composed of ${links.join(", ")}.\n\n` : "";
}

// The numbers of the example stand above its files.
function withNumbers(text) {
    const test = /^```text file=\w+\.test\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? "";
    const title = /^case (.*)$/m.exec(test)?.[1] ?? "";
    const numbers = exampleHtml(test);
    if (!numbers) return text;
    const sentence = title.charAt(0).toUpperCase() + title.slice(1);
    return text.replace(/^## Example\n/m, () => `## Example\n\n${sentence}:\n\n${numbers}\n`);
}

// The text of the page with a section "Formula" behind the call. `failed` gets the name
// of an operator whose formula cannot be drawn.
export function withFormula(page, draw, known, failed) {
    const [, module] = kPage.exec(page.source);
    const definition = /^operator [\s\S]*?^}$/m.exec(page.text)?.[0] ?? "";
    let drawn = [];
    try {
        const equations = equationsOf(definition).map((e) => formulaHtml(draw, e));
        drawn = formulasOf(definition).map((f) => formulaHtml(draw, f));
        if (equations.length) drawn.push(equations.join(""));
    } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        failed.push(`${page.title}: ${error.message}`);
    }
    const text = withNumbers(page.text);
    if (!drawn.length) return text;
    const section = `## Formula\n\n${boxes(drawn)}\n\n${callLinks(module, definition, known)}## Declaration\n`;
    // Behind the call, which is the first code of the page.
    return text.replace(/^(```sknd\n[\s\S]*?\n```\n)/m, (call) => `${call}\n${section}`);
}
