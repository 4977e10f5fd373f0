// SPDX-License-Identifier: Apache-2.0
// The graph as a text list, for screen readers and for those who like lists. Long levels come in
// portions, members of a group when it is opened.

import type { Context } from "../context";
import { h } from "../dom";
import { clean, shapeText } from "../text";

const kPortion = 200;

function row(context: Context, side: number, index: number): HTMLElement {
    const graph = context.graphs[side];
    const item = graph.items[index];
    const out = item.op?.outputs[0]?.tensors[0] ?? item.port?.tensors[0];
    const text = h(
        "button",
        { type: "button", class: "link", onclick: () => context.selectItem(side, index) },
        item.title,
    );
    const line = h(
        "span",
        {},
        text,
        h(
            "span",
            { class: "dim" },
            ` ${item.kind === "op" ? "" : `${item.kind} `}${item.op?.label && item.kind === "op" ? clean(item.op.label, 80) : ""}${out ? ` → ${shapeText(out.shape)}` : ""}`,
        ),
    );
    if (!item.children.length) return h("li", {}, line);
    const inner = h("details", {}, h("summary", {}, line));
    inner.addEventListener("toggle", () => {
        if (inner.open && inner.childNodes.length === 1)
            inner.append(level(context, side, item.children));
    });
    return h("li", {}, inner);
}

function level(context: Context, side: number, indices: number[]): HTMLElement {
    const list = h("ul", { class: "tree" });
    let shown = 0;
    const more = (): void => {
        for (const index of indices.slice(shown, shown + kPortion))
            list.append(row(context, side, index));
        shown += kPortion;
        if (shown < indices.length) {
            const next = h(
                "li",
                {},
                h(
                    "button",
                    { type: "button", class: "small", onclick: () => (next.remove(), more()) },
                    `${indices.length - shown} more`,
                ),
            );
            list.append(next);
        }
    };
    more();
    return list;
}

export function listPanel(context: Context): HTMLElement {
    const out = h("nav", { class: "list", "aria-label": "operations" }, h("h2", {}, "Operations"));
    context.graphs.forEach((graph, side) => {
        if (context.graphs.length > 1) out.append(h("h3", {}, side ? "B" : "A"));
        out.append(level(context, side, graph.top));
    });
    if (!context.graphs.length) out.append(h("p", { class: "dim" }, "There is no graph."));
    return out;
}
