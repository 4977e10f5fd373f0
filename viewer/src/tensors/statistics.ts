// SPDX-License-Identifier: Apache-2.0
// Numbers, histogram and picture of one tensor.

import type { Context } from "../context";
import type { TensorData } from "../document";
import { facts, h, svg } from "../dom";
import { clean, finite, grouped, percent, real, shapeText } from "../text";
import { picture } from "./picture";

const kWidth = 320;
const kHeight = 84;

export function histogram(data: NonNullable<TensorData["histogram"]>): SVGElement | null {
    const counts = (Array.isArray(data.counts) ? data.counts : [])
        .slice(0, 512)
        .map((c) => Math.max(0, finite(c)));
    if (!counts.length) return null;
    const most = Math.max(1, ...counts);
    const total = counts.reduce((a, b) => a + b, 0) || 1;
    const low = finite(data.low);
    const step = (finite(data.high) - low) / counts.length;
    const chart = svg("svg", {
        viewBox: `0 0 ${kWidth} ${kHeight + 16}`,
        class: "histogram",
        role: "img",
        "aria-label": `histogram from ${real(low)} to ${real(data.high)}`,
    });
    const width = kWidth / counts.length;
    counts.forEach((count, i) => {
        const tall = count === 0 ? 0 : Math.max(1, Math.sqrt(count / most) * kHeight);
        chart.append(
            svg(
                "rect",
                {
                    x: (i * width + 0.4).toFixed(2),
                    y: (kHeight - tall).toFixed(2),
                    width: Math.max(0.5, width - 0.8).toFixed(2),
                    height: tall.toFixed(2),
                    rx: 0.8,
                },
                svg(
                    "title",
                    {},
                    `${real(low + i * step)} … ${real(low + (i + 1) * step)}: ${grouped(count)} (${percent(count / total)})`,
                ),
            ),
        );
    });
    chart.append(
        svg("line", { x1: 0, x2: kWidth, y1: kHeight + 0.5, y2: kHeight + 0.5, class: "axis" }),
    );
    if (low < 0 && finite(data.high) > 0) {
        const zero = (-low / (finite(data.high) - low)) * kWidth;
        chart.append(
            svg("line", { x1: zero, x2: zero, y1: 0, y2: kHeight, class: "zero" }),
            svg("text", { x: zero, y: kHeight + 13, "text-anchor": "middle" }, "0"),
        );
    }
    chart.append(
        svg("text", { x: 0, y: kHeight + 13 }, real(low)),
        svg("text", { x: kWidth, y: kHeight + 13, "text-anchor": "end" }, real(data.high)),
    );
    return chart;
}

export function statistics(context: Context, data: TensorData): HTMLElement {
    const out = h("div", { class: "statistics" });
    const bad = finite(data.nan) + finite(data.inf);
    if (bad > 0)
        out.append(
            h(
                "p",
                { class: "note error" },
                `${grouped(finite(data.nan))} NaN, ${grouped(finite(data.inf))} infinite`,
            ),
        );
    const low = data.histogram ? histogram(data.histogram) : null;
    if (low) out.append(low);
    out.append(
        facts([
            ["elements", data.elements === undefined ? "" : grouped(data.elements)],
            ["least", data.min === undefined ? "" : real(data.min)],
            ["largest", data.max === undefined ? "" : real(data.max)],
            ["mean", data.mean === undefined ? "" : real(data.mean)],
            ["deviation", data.std === undefined ? "" : real(data.std)],
            ["zeros", data.zeros === undefined ? "" : percent(finite(data.zeros))],
        ]),
    );
    const image = picture(context, data);
    if (image) out.append(image);
    return out;
}

export function describe(data: TensorData): string {
    return `${clean(data.dtype, 12)} ${shapeText(Array.isArray(data.shape) ? data.shape : [])}`;
}
