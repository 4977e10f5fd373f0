// SPDX-License-Identifier: Apache-2.0
// What can colour the operations: counts from the document, times and errors from measurements.

import type { Errors, Op, Times } from "../document";
import type { Graph } from "../graph/items";
import { bytes, finite, milliseconds, percent, real, short } from "../text";
import { heat } from "./scale";

export interface Measured {
    times: Times | null;
    errors: Errors | null;
}

export interface Overlay {
    name: string;
    title: string;
    unit(value: number): string;
    sums: boolean; // a group has the sum of its members; otherwise their maximum
    logarithmic: boolean;
    needs: "" | "times" | "errors";
    value(op: Op, measured: Measured): number | null;
}

function byId(table: Record<string, number> | undefined, op: Op): number | null {
    const value = table?.[String(op.id)];
    return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export const kOverlays: Overlay[] = [
    {
        name: "macs",
        title: "MACs",
        unit: short,
        sums: true,
        logarithmic: false,
        needs: "",
        value: (op) => op.macs,
    },
    {
        name: "bytes",
        title: "Output bytes",
        unit: bytes,
        sums: true,
        logarithmic: false,
        needs: "",
        value: (op) => op.outputBytes,
    },
    {
        name: "parameters",
        title: "Parameters",
        unit: short,
        sums: true,
        logarithmic: false,
        needs: "",
        value: (op) => op.parameters,
    },
    {
        name: "time",
        title: "Time",
        unit: milliseconds,
        sums: true,
        logarithmic: false,
        needs: "times",
        value: (op, m) => byId(m.times?.operations, op),
    },
    {
        name: "peak",
        title: "Share of peak",
        unit: percent,
        sums: false,
        logarithmic: false,
        needs: "times",
        value: (op, m) => byId(m.times?.share_of_peak, op),
    },
    {
        name: "error",
        title: "Numeric error",
        unit: real,
        sums: false,
        logarithmic: true,
        needs: "errors",
        value: (op, m) => {
            const found = m.errors?.operations?.[String(op.id)];
            return found && typeof found.max_abs === "number"
                ? finite(found.max_abs, Infinity)
                : null;
        },
    },
];

export interface Ranked {
    index: number; // item
    value: number;
}

export interface Heat {
    overlay: Overlay;
    colours: Map<number, string>;
    texts: Map<number, string>;
    ranking: Ranked[]; // operations of the model's own level, largest first
    least: number;
    most: number;
    total: number;
}

// Values of all items: an operation's own value, else what its members add up to.
function valuesOf(graph: Graph, overlay: Overlay, measured: Measured): Map<number, number> {
    const values = new Map<number, number>();
    for (let i = graph.items.length - 1; i >= 0; i--) {
        const item = graph.items[i];
        let value: number | null =
            item.kind === "op" && item.op ? overlay.value(item.op, measured) : null;
        if (value === null) {
            for (const child of item.children) {
                const inner = values.get(child);
                if (inner === undefined) continue;
                value =
                    value === null ? inner : overlay.sums ? value + inner : Math.max(value, inner);
            }
        }
        if (value !== null) values.set(i, value);
    }
    return values;
}

// The place of a value on the scale, 0 to 1. Errors have a logarithmic scale of at most six decades.
export function lowest(overlay: Overlay, least: number, most: number): number {
    return overlay.logarithmic ? Math.max(most / 1e6, Math.min(least, most / 10)) : 0;
}
export function shareOf(overlay: Overlay, value: number, most: number, low = most / 1e6): number {
    if (!(most > 0) || !(value > 0)) return 0;
    if (!Number.isFinite(value)) return 1;
    if (overlay.logarithmic)
        return Math.max(0, Math.min(1, Math.log(value / low) / Math.log(most / low)));
    return Math.sqrt(value / most);
}

export function heatOf(graph: Graph, overlay: Overlay, measured: Measured, dark: boolean): Heat {
    const values = valuesOf(graph, overlay, measured);
    const ranking: Ranked[] = [];
    let most = 0;
    let total = 0;
    let least = Infinity;
    for (const [index, value] of values) {
        const item = graph.items[index];
        if (item.kind !== "op" || (item.op?.parent && item.op.parent.kind !== "control")) continue;
        if (item.op?.kind === "control" && item.op.bodies.length) continue;
        ranking.push({ index, value });
        if (Number.isFinite(value)) most = Math.max(most, value);
        if (value > 0) least = Math.min(least, value);
        total += value;
    }
    ranking.sort((a, b) => b.value - a.value || a.index - b.index);
    const low = lowest(overlay, least, most);
    const colours = new Map<number, string>();
    const texts = new Map<number, string>();
    for (const [index, value] of values) {
        colours.set(index, heat(shareOf(overlay, value, most, low), dark));
        texts.set(index, overlay.unit(value));
    }
    return { overlay, colours, texts, ranking, least: least === Infinity ? 0 : least, most, total };
}
