// SPDX-License-Identifier: Apache-2.0
// Links from the panel to operations and tensors, and texts of types.

import type { Context } from "../context";
import type { Op, TensorInfo } from "../document";
import { h } from "../dom";
import { clean, shapeText } from "../text";

export function opLink(context: Context, side: number, op: Op): HTMLElement {
    const index = context.graphs[side].byOp.get(op) ?? -1;
    const name = op.label ? `${op.title} · ${lastPart(op.label)}` : op.title;
    return h(
        "button",
        {
            type: "button",
            class: "link",
            title: clean(op.label || op.operation),
            onclick: () => context.selectItem(side, index),
        },
        clean(name, 60),
    );
}

export function lastPart(label: string): string {
    const parts = label
        .slice(-300)
        .split("/")
        .filter((p) => p !== "");
    return parts.length > 2 ? parts.slice(-2).join("/") : label;
}

export function tensorLink(context: Context, side: number, t: TensorInfo): HTMLElement {
    return h(
        "button",
        {
            type: "button",
            class: "link mono",
            title: clean(t.name, 1000),
            onclick: () => context.selectTensor(side, t.name),
        },
        clean(t.name, 70),
    );
}

// `f32 1×3×n×n`, with the bounds of runtime extents behind it.
export function typeText(t: TensorInfo): string {
    return `${clean(t.dtype, 12)} ${shapeText(t.shape)}`;
}
export function boundsText(t: TensorInfo): string {
    if (!t.bounds) return "";
    return `at most ${t.bounds.map((b) => (b === null ? "?" : b)).join("×")}`;
}
