// SPDX-License-Identifier: Apache-2.0
// A scope, a body of control flow, an input or an output.

import type { Context } from "../context";
import { button, facts, h, section } from "../dom";
import type { Item } from "../graph/items";
import { bytes, clean, grouped, short } from "../text";
import { outerProducer } from "../normalise";
import { boundsText, opLink, tensorLink, typeText } from "./links";

function sum(
    context: Context,
    side: number,
    item: Item,
    field: "macs" | "parameters" | "outputBytes",
): number {
    const graph = context.graphs[side];
    let total = 0;
    for (const child of item.children) {
        const inner = graph.items[child];
        total +=
            inner.kind === "op" && inner.op ? inner.op[field] : sum(context, side, inner, field);
    }
    return total;
}

export function groupPanel(context: Context, side: number, item: Item): HTMLElement {
    const graph = context.graphs[side];
    const head = h(
        "header",
        { class: "heading" },
        h("p", { class: "eyebrow" }, h("span", { class: "chip" }, item.kind)),
        h("h2", {}, item.title),
    );
    const out = h("div", { class: "operation" }, head);
    if (item.kind === "scope")
        head.append(h("p", { class: "mono dim" }, clean(item.key.slice(1), 300)));
    if (item.kind === "body" && item.op)
        head.append(h("p", {}, "of ", opLink(context, side, item.op)));
    if (item.children.length) {
        head.append(
            h(
                "p",
                { class: "actions" },
                button(
                    "open / close",
                    "open or close the group (Enter)",
                    () => context.toggle(side, item.index),
                    "small",
                ),
            ),
        );
        out.append(
            facts([
                ["operations", grouped(item.children.length)],
                ["multiply-adds", short(sum(context, side, item, "macs"))],
                ["parameters", short(sum(context, side, item, "parameters"))],
                ["outputs", bytes(sum(context, side, item, "outputBytes"))],
            ]),
        );
        const ops = item.children.slice(0, 100).map((c) => graph.items[c]);
        out.append(
            section(
                "Members",
                h(
                    "ul",
                    { class: "tree" },
                    ...ops.map((i) =>
                        h(
                            "li",
                            {},
                            h(
                                "button",
                                {
                                    type: "button",
                                    class: "link",
                                    onclick: () => context.selectItem(side, i.index),
                                },
                                i.title,
                            ),
                            h(
                                "span",
                                { class: "dim" },
                                ` ${i.children.length && i.kind !== "op" ? `${i.children.length} members` : clean(i.op?.label, 60)}`,
                            ),
                        ),
                    ),
                ),
            ),
        );
    }
    for (const t of item.port?.tensors.slice(0, 60) ?? []) {
        const users = [...new Set(graph.model.consumers.get(t.name) ?? [])]
            .filter((u) => !u.parent)
            .slice(0, 20);
        const from = outerProducer(graph.model, t.name);
        out.append(
            section(
                clean(t.name, 80),
                facts([
                    ["tensor", tensorLink(context, side, t)],
                    ["type", h("span", { class: "mono" }, typeText(t))],
                    ["bounds", boundsText(t)],
                    ["from", from ? opLink(context, side, from) : ""],
                    [
                        "to",
                        users.length
                            ? h(
                                  "span",
                                  {},
                                  ...users.flatMap((u, i) => [
                                      i ? ", " : "",
                                      opLink(context, side, u),
                                  ]),
                              )
                            : "",
                    ],
                ]),
            ),
        );
    }
    return out;
}
