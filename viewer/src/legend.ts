// SPDX-License-Identifier: Apache-2.0
// The legend of the overlay that colours the graph.

import { h } from "./dom";
import { lowest, type Heat } from "./overlays/overlays";
import { heat } from "./overlays/scale";

export function legend(element: HTMLElement, found: Heat | null, dark: boolean): void {
    element.hidden = !found;
    if (!found) return;
    const { overlay } = found;
    const ramp = h("span", { class: "ramp" });
    const stops = [0, 0.25, 0.5, 0.75, 1].map((t) => heat(t, dark));
    ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const low = lowest(overlay, found.least, found.most);
    element.replaceChildren(
        h("b", {}, overlay.title),
        ramp,
        h(
            "span",
            { class: "ends" },
            h("span", {}, overlay.unit(low)),
            h("span", {}, overlay.unit(found.most)),
        ),
        overlay.sums
            ? h("span", { class: "dim" }, `${overlay.unit(found.total)} in all`)
            : h("span", { class: "dim" }, "largest value of each operation"),
    );
}
