// SPDX-License-Identifier: Apache-2.0
// Finds operations, tensors, operators and attributes. The index is a list of lower-case texts.

import type { Graph } from "./graph/items";
import { attributeText, clean } from "./text";

export interface Entry {
    kind: "operation" | "tensor" | "operator" | "attribute" | "scope";
    text: string; // what is shown
    detail: string;
    key: string; // lower case, what is searched
    side: number;
    item: number; // -1 for a tensor
    tensor: string;
}

const kMostText = 300; // characters of a name that count
const kOrder: Record<Entry["kind"], number> = {
    operation: 0,
    scope: 1,
    operator: 2,
    tensor: 3,
    attribute: 4,
};

export function buildIndex(graphs: Graph[]): Entry[] {
    const entries: Entry[] = [];
    const add = (
        kind: Entry["kind"],
        text: string,
        detail: string,
        side: number,
        item: number,
        tensor = "",
    ): void => {
        const shown = clean(text, kMostText);
        entries.push({
            kind,
            text: shown,
            detail: clean(detail, kMostText),
            key: shown.toLowerCase(),
            side,
            item,
            tensor,
        });
    };
    graphs.forEach((graph, side) => {
        const operators = new Map<string, { first: number; count: number }>();
        for (const item of graph.items) {
            const op = item.op;
            if (item.kind === "op" && op) {
                add(
                    "operation",
                    op.label ? `${item.title} ${op.label}` : item.title,
                    op.operation,
                    side,
                    item.index,
                );
                const known = operators.get(op.operation);
                if (known) known.count++;
                else operators.set(op.operation, { first: item.index, count: 1 });
                if (op.parent && op.parent.kind !== "control") continue; // attributes of parts repeat those of their compound
                for (const [name, value] of op.attributes.slice(0, 40)) {
                    if (!op.defaults.has(name))
                        add(
                            "attribute",
                            `${name} = ${attributeText(value, 80)}`,
                            op.label || op.title,
                            side,
                            item.index,
                        );
                }
            } else {
                add(
                    item.kind === "scope" ? "scope" : "operation",
                    item.kind === "scope" ? item.key.slice(1) : item.title,
                    item.kind,
                    side,
                    item.index,
                );
            }
        }
        for (const [operator, { first, count }] of operators)
            add("operator", operator, `${count} times`, side, first);
        for (const name of graph.model.tensors.keys())
            add("tensor", name, graph.model.tensors.get(name)!.role, side, -1, name);
    });
    return entries;
}

// Points for one word: at the start, at the start of a part, or somewhere.
function points(key: string, word: string): number {
    const at = key.indexOf(word);
    if (at < 0) return -1;
    if (at === 0 || key[at - 1] === " ") return 3;
    return /[^a-z0-9]/.test(key[at - 1]) ? 2 : 1;
}

export function search(entries: Entry[], query: string, limit = 30): Entry[] {
    const words = query
        .toLowerCase()
        .slice(0, 200)
        .split(/\s+/)
        .filter((w) => w !== "")
        .slice(0, 8);
    if (!words.length) return [];
    const found: { entry: Entry; points: number }[] = [];
    for (const entry of entries) {
        let total = 0;
        for (const word of words) {
            const p = points(entry.key, word);
            if (p < 0) {
                total = -1;
                break;
            }
            total += p;
        }
        if (total >= 0)
            found.push({
                entry,
                points: total * 10 - kOrder[entry.kind] - Math.min(9, entry.key.length / 40),
            });
    }
    found.sort((a, b) => b.points - a.points);
    return found.slice(0, limit).map((f) => f.entry);
}
