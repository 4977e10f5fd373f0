// SPDX-License-Identifier: Apache-2.0
// The formulas of an operation as mathematics, with the text beside them.

import type { Formula } from "../document";
import { h } from "../dom";
import { drawFormula, drawRanges } from "../math/mathml";
import { cleanLines } from "../text";

export function formulas(list: Formula[]): HTMLElement | null {
    const out = h("div", { class: "formulas" });
    for (const formula of list.slice(0, 20)) {
        const math = drawFormula(formula, document);
        const box = h("div", { class: "formula" });
        if (math) {
            box.append(h("div", { class: "math" }, math));
            const ranges = drawRanges(formula, document);
            if (ranges) box.append(h("div", { class: "ranges" }, ranges));
        }
        if (formula.text) {
            const text = h("pre", { class: "code" }, cleanLines(formula.text, 4000));
            box.append(math ? h("details", { class: "plain" }, h("summary", {}, "as text"), text) : text);
        }
        if (box.childNodes.length) out.append(box);
    }
    return out.childNodes.length ? out : null;
}
