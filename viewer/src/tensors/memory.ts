// SPDX-License-Identifier: Apache-2.0
// The memory plan: blocks over steps and offsets.

import type { Context } from "../context";
import type { MemoryPlan } from "../document";
import { h, svg } from "../dom";
import { bytes, clean, finite } from "../text";

const kWidth = 1000;
const kHeight = 560;
const kMost = 4000;

// A colour per tensor that stays the same between visits.
function hue(name: string): number {
    let value = 0;
    for (let i = 0; i < Math.min(name.length, 200); i++)
        value = (value * 31 + name.charCodeAt(i)) % 360;
    return value;
}

function stepName(plan: MemoryPlan, step: number): string {
    const name = Array.isArray(plan.step_names) ? plan.step_names[step] : undefined;
    return name ? `, written by ${clean(name, 80)}` : "";
}

export function memoryChart(context: Context, plan: MemoryPlan): HTMLElement {
    const blocks = (Array.isArray(plan.blocks) ? plan.blocks : []).slice(0, kMost).map((b) => ({
        tensor: String(b?.tensor ?? ""),
        first: finite(b?.first),
        last: finite(b?.last),
        offset: finite(b?.offset),
        bytes: finite(b?.bytes),
    }));
    const steps = Math.max(1, finite(plan.steps), ...blocks.map((b) => b.last + 1));
    const arena = Math.max(1, finite(plan.arena_bytes), ...blocks.map((b) => b.offset + b.bytes));
    const readout = h(
        "p",
        { class: "mono readout" },
        "Point at a block; a click shows the tensor.",
    );
    const chart = svg("svg", {
        viewBox: `0 0 ${kWidth} ${kHeight}`,
        preserveAspectRatio: "none",
        class: "memory",
        role: "img",
        "aria-label": `memory plan: ${blocks.length} blocks in ${bytes(arena)}`,
    });
    for (const b of blocks) {
        const shape = svg("rect", {
            x: ((b.first / steps) * kWidth).toFixed(2),
            width: Math.max(1, ((b.last + 1 - b.first) / steps) * kWidth).toFixed(2),
            y: (kHeight - ((b.offset + b.bytes) / arena) * kHeight).toFixed(2),
            height: Math.max(1, (b.bytes / arena) * kHeight).toFixed(2),
            fill: `hsl(${hue(b.tensor)}, ${context.dark ? 26 : 34}%, ${context.dark ? 48 : 68}%)`,
            class: "block",
        });
        shape.addEventListener(
            "mouseenter",
            () =>
                (readout.textContent = `${clean(b.tensor, 100) || "scratch"}: ${bytes(b.bytes)} at ${bytes(b.offset)}, steps ${b.first}–${b.last}${stepName(plan, b.first)}`),
        );
        shape.addEventListener("click", () => context.selectTensor(0, b.tensor));
        chart.append(shape);
    }
    const live: number[] = new Array<number>(Math.min(steps, 20000)).fill(0);
    for (const b of blocks)
        for (let s = Math.max(0, b.first); s <= Math.min(b.last, live.length - 1); s++)
            live[s] += b.bytes;
    const peak = live.reduce((best, v, i) => (v > live[best] ? i : best), 0);
    chart.append(
        svg("line", {
            x1: ((peak + 0.5) / steps) * kWidth,
            x2: ((peak + 0.5) / steps) * kWidth,
            y1: 0,
            y2: kHeight,
            class: "peak",
            "vector-effect": "non-scaling-stroke",
        }),
    );
    return h(
        "div",
        { class: "memory-plan" },
        h(
            "p",
            {},
            h("b", {}, bytes(arena)),
            h(
                "span",
                { class: "dim" },
                ` arena, ${steps} steps, ${blocks.length} blocks; most in use at step ${peak}: ${bytes(live[peak] ?? 0)}`,
            ),
        ),
        h(
            "div",
            { class: "chart" },
            h("span", { class: "dim y-axis" }, bytes(arena)),
            chart,
            h("span", { class: "dim x-axis" }, `step 0 … ${steps - 1}`),
        ),
        readout,
    );
}
