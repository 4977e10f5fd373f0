// SPDX-License-Identifier: Apache-2.0
// A slice of a tensor as a heat map, or in grey where the tensor looks like an image.

import type { Context } from "../context";
import type { TensorData } from "../document";
import { h } from "../dom";
import { signed } from "../overlays/scale";
import { clean, real } from "../text";

const kMost = 512; // rows and columns

function number(value: unknown): number {
    return typeof value === "number"
        ? value
        : value === "inf"
          ? Infinity
          : value === "-inf"
            ? -Infinity
            : NaN;
}

function paint(
    canvas: HTMLCanvasElement,
    values: number[],
    rows: number,
    columns: number,
    grey: boolean,
    dark: boolean,
): void {
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext("2d")!;
    const image = context.createImageData(columns, rows);
    let low = Infinity,
        high = -Infinity;
    for (const v of values) {
        if (!Number.isFinite(v)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
    }
    const most = Math.max(Math.abs(low), Math.abs(high));
    for (let i = 0; i < rows * columns; i++) {
        const v = values[i];
        const shade = high > low ? Math.round(((v - low) / (high - low)) * 255) : 128;
        const [r, g, b] = Number.isNaN(v)
            ? [255, 0, 200]
            : grey
              ? [shade, shade, shade]
              : signed(v, most, dark);
        image.data.set([r, g, b, 255], i * 4);
    }
    context.putImageData(image, 0, 0);
}

export function picture(context: Context, data: TensorData): HTMLElement | null {
    const slice = data.slice;
    if (!slice || !Array.isArray(slice.shape) || !Array.isArray(slice.values)) return null;
    const rows = Math.floor(Number(slice.shape[0]));
    const columns = Math.floor(Number(slice.shape[1]));
    if (
        !(rows > 0 && columns > 0 && rows <= kMost && columns <= kMost) ||
        slice.values.length < rows * columns
    )
        return null;
    const values = slice.values.slice(0, rows * columns).map(number);
    const canvas = h("canvas", {
        class: "heat",
        role: "img",
        "aria-label": `${rows} × ${columns} values`,
    });
    const readout = h("span", { class: "mono dim" }, "\u00a0");
    let grey = data.image === true;
    paint(canvas, values, rows, columns, grey, context.dark);
    const scale = Math.max(1, Math.min(24, Math.floor(320 / Math.max(columns, rows / 1.4))));
    canvas.style.width = `${columns * scale}px`;
    canvas.style.aspectRatio = `${columns} / ${rows}`;
    canvas.addEventListener("mousemove", (event) => {
        const box = canvas.getBoundingClientRect();
        const c = Math.min(
            columns - 1,
            Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)),
        );
        const r = Math.min(
            rows - 1,
            Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * rows)),
        );
        readout.textContent = `[${r}, ${c}] = ${real(slice.values[r * columns + c])}`;
    });
    const out = h(
        "figure",
        { class: "picture" },
        canvas,
        h("figcaption", {}, h("span", { class: "dim" }, clean(slice.of ?? "", 120)), readout),
    );
    if (data.image) {
        const change = h("button", { type: "button", class: "small" }, "as heat map");
        change.addEventListener("click", () => {
            grey = !grey;
            paint(canvas, values, rows, columns, grey, context.dark);
            change.textContent = grey ? "as heat map" : "as image";
        });
        out.append(change);
    }
    return out;
}
