// SPDX-License-Identifier: Apache-2.0
// A comparison of two models: partners, colours, the list of changes and the table of numbers.

import type { Context } from "../context";
import type { Diff, Op } from "../document";
import { h, section } from "../dom";
import type { Graph } from "../graph/items";
import { clean, real } from "../text";
import { opLink } from "../panel/links";

export type Status = Map<number, "added" | "removed" | "changed">;

export interface Comparison {
    diff: Diff;
    partner: [Map<number, number>, Map<number, number>]; // item of one side → item of the other
    status: [Status, Status];
}

function itemOf(graph: Graph, id: unknown): number {
    const op = typeof id === "number" ? graph.model.byId.get(id) : undefined;
    return op ? graph.byOp.get(op)! : -1;
}

// Groups around a changed operation are changed, too: a closed group shows that something is in it.
function mark(
    graph: Graph,
    status: Status,
    index: number,
    what: "added" | "removed" | "changed",
): void {
    if (index < 0) return;
    status.set(index, what);
    for (let at = graph.items[index].parent; at >= 0; at = graph.items[at].parent)
        if (!status.has(at)) status.set(at, "changed");
}

export function compare(diff: Diff, graphs: Graph[]): Comparison {
    const [a, b] = graphs;
    const out: Comparison = {
        diff,
        partner: [new Map(), new Map()],
        status: [new Map(), new Map()],
    };
    for (const pair of Array.isArray(diff.pairs) ? diff.pairs : []) {
        if (!Array.isArray(pair)) continue;
        const [left, right] = [itemOf(a, pair[0]), itemOf(b, pair[1])];
        if (left < 0 || right < 0) continue;
        out.partner[0].set(left, right);
        out.partner[1].set(right, left);
        if (pair[2] === "changed") {
            mark(a, out.status[0], left, "changed");
            mark(b, out.status[1], right, "changed");
        }
    }
    for (const id of Array.isArray(diff.only_a) ? diff.only_a : [])
        mark(a, out.status[0], itemOf(a, id), "removed");
    for (const id of Array.isArray(diff.only_b) ? diff.only_b : [])
        mark(b, out.status[1], itemOf(b, id), "added");
    for (const side of [0, 1]) pairByName(graphs, out, side);
    return out;
}

// Inputs, outputs and scopes have no ids; equal keys are partners.
function pairByName(graphs: Graph[], out: Comparison, side: number): void {
    for (const item of graphs[side].items) {
        if (item.kind === "op" || item.kind === "body" || out.partner[side].has(item.index))
            continue;
        const other = graphs[1 - side].byKey.get(item.key);
        if (other !== undefined) out.partner[side].set(item.index, other);
    }
}

function name(context: Context, side: number, id: unknown): HTMLElement | null {
    const op: Op | undefined =
        typeof id === "number" ? context.graphs[side].model.byId.get(id) : undefined;
    return op ? opLink(context, side, op) : null;
}

function changeText(value: unknown): string {
    if (value === undefined || value === null) return "–";
    return clean(typeof value === "string" ? value : JSON.stringify(value), 120);
}

// How much a weight changed: a number, or how many elements by how much.
function amountText(value: unknown): string {
    if (typeof value !== "object" || value === null) return changeText(value);
    const amount = value as Record<string, unknown>;
    const parts = [`${clean(amount.changed, 20)} of ${clean(amount.elements, 20)} elements differ`];
    if (amount.max_abs !== undefined) parts.push(`largest ${real(amount.max_abs)}`);
    if (amount.max_rel !== undefined) parts.push(`relative ${real(amount.max_rel)}`);
    if (amount.where !== undefined) parts.push(`most at ${clean(amount.where, 60)}`);
    return parts.join(", ");
}

export function changesPanel(context: Context, comparison: Comparison): HTMLElement {
    const { diff } = comparison;
    const out = h("div", { class: "changes" }, h("h2", {}, "Changes"));
    const onlyA = Array.isArray(diff.only_a) ? diff.only_a : [];
    const onlyB = Array.isArray(diff.only_b) ? diff.only_b : [];
    const changes = Array.isArray(diff.changes) ? diff.changes : [];
    const equal = (Array.isArray(diff.pairs) ? diff.pairs : []).filter(
        (p) => Array.isArray(p) && p[2] === "equal",
    ).length;
    out.append(
        h(
            "p",
            { class: "tally" },
            h("span", { class: "removed" }, `${onlyA.length} only in A`),
            h("span", { class: "added" }, `${onlyB.length} only in B`),
            h("span", { class: "changed" }, `${changes.length} changes`),
            h("span", { class: "dim" }, `${equal} equal`),
        ),
    );
    if (changes.length) {
        const rows = changes
            .slice(0, 500)
            .map((c) =>
                h(
                    "li",
                    { class: "change" },
                    h(
                        "p",
                        {},
                        h("span", { class: "tag" }, clean(c.what, 20)),
                        h("b", {}, clean(c.name, 80)),
                        " of ",
                        name(context, 0, c.a) ?? name(context, 1, c.b),
                    ),
                    h(
                        "p",
                        { class: "mono" },
                        h("span", { class: "removed" }, changeText(c.before)),
                        " → ",
                        h("span", { class: "added" }, changeText(c.after)),
                    ),
                    c.amount !== undefined && c.amount !== null
                        ? h("p", { class: "dim" }, amountText(c.amount))
                        : null,
                ),
            );
        out.append(section("What changed", h("ul", { class: "plain-list" }, ...rows)));
    }
    if (onlyA.length)
        out.append(
            section(
                "Only in A",
                h(
                    "ul",
                    { class: "plain-list" },
                    ...onlyA.slice(0, 300).map((id) => h("li", {}, name(context, 0, id))),
                ),
            ),
        );
    if (onlyB.length)
        out.append(
            section(
                "Only in B",
                h(
                    "ul",
                    { class: "plain-list" },
                    ...onlyB.slice(0, 300).map((id) => h("li", {}, name(context, 1, id))),
                ),
            ),
        );
    const numbers = numbersTable(context, diff);
    if (numbers) out.append(section("Numbers", numbers));
    return out;
}

function numbersTable(context: Context, diff: Diff): HTMLElement | null {
    const rows = Array.isArray(diff.numbers) ? diff.numbers : [];
    if (!rows.length) return null;
    const first = typeof diff.first === "number" ? diff.first : -1;
    const body = rows
        .slice(0, 1000)
        .map((r, i) =>
            h(
                "tr",
                { class: i === first ? "first" : r.equal ? "dim" : "" },
                h(
                    "td",
                    { class: "mono" },
                    h(
                        "button",
                        {
                            type: "button",
                            class: "link",
                            onclick: () => context.selectTensor(0, String(r.a)),
                        },
                        clean(r.a, 60),
                    ),
                ),
                h("td", { class: "mono" }, r.b === r.a ? "" : clean(r.b, 60)),
                h("td", { class: "number" }, r.equal ? "equal" : real(r.max_abs)),
                h("td", { class: "number" }, r.equal ? "" : real(r.max_rel)),
            ),
        );
    return h(
        "div",
        {},
        first >= 0 && rows[first]
            ? h(
                  "p",
                  { class: "note" },
                  "The first tensor that differs: ",
                  h("b", { class: "mono" }, clean(rows[first].a, 80)),
              )
            : null,
        h(
            "table",
            { class: "numbers" },
            h(
                "thead",
                {},
                h(
                    "tr",
                    {},
                    h("th", {}, "A"),
                    h("th", {}, "B"),
                    h("th", {}, "largest difference"),
                    h("th", {}, "relative"),
                ),
            ),
            h("tbody", {}, ...body),
        ),
    );
}
