// SPDX-License-Identifier: Apache-2.0
// The formulas of an operation as mathematics, with the text beside them.

import type { Formula } from "../document";
import { h } from "../dom";
import { drawFormula, drawLets, drawRanges } from "../math/mathml";
import { cleanLines } from "../text";

// A formula that is wider than the panel becomes smaller, down to a size that can be read; then it scrolls.
const fit = new ResizeObserver((entries) => {
    for (const { target } of entries) {
        const math = target.firstElementChild as HTMLElement | null;
        if (!math) continue;
        math.style.fontSize = "";
        const share = target.clientWidth / Math.max(1, target.scrollWidth);
        if (share < 1) math.style.fontSize = `${Math.max(12, Math.floor(18 * share * 10) / 10)}px`;
    }
});

export function formulas(list: Formula[]): HTMLElement | null {
    const out = h("div", { class: "formulas" });
    for (const formula of list.slice(0, 20)) {
        const math = drawFormula(formula, document);
        const box = h("div", { class: "formula" });
        if (math) {
            const frame = h("div", { class: "math", tabindex: 0 }, math);
            fit.observe(frame);
            box.append(frame);
            const lets = drawLets(formula, document);
            if (lets.length)
                box.append(h("div", { class: "ranges lets" }, h("span", {}, "where"), ...lets));
            const ranges = drawRanges(formula, document);
            if (ranges.length) box.append(h("div", { class: "ranges" }, ...ranges));
        }
        if (formula.text) {
            const text = h("pre", { class: "code" }, cleanLines(formula.text, 4000));
            box.append(
                math ? h("details", { class: "plain" }, h("summary", {}, "as text"), text) : text,
            );
        }
        if (box.childNodes.length) out.append(box);
    }
    return out.childNodes.length ? out : null;
}
