// SPDX-License-Identifier: Apache-2.0
// Sizes of boxes. Widths of texts come from a table of character widths, so that a layout needs no
// canvas and takes the same place in every browser.

import type { Item } from "./items";

export const kTitleSize = 13;
export const kRowSize = 10.5;
export const kRowHeight = 14;
export const kTitleHeight = 28;
const kNarrow = new Set("iljtfr.,:;|!'()[]I /");
const kWide = new Set("mwMW@%—");

const known = new Map<string, number>(); // names repeat, often thousands of times

export function textWidth(text: string, size: number): number {
    let width = known.get(text);
    if (width !== undefined) return width * size;
    width = 0;
    for (const c of text) {
        width += kNarrow.has(c)
            ? 0.32
            : kWide.has(c)
              ? 0.86
              : c >= "A" && c <= "Z"
                ? 0.66
                : c.charCodeAt(0) > 0x2e80
                  ? 1
                  : c >= "0" && c <= "9"
                    ? 0.6
                    : 0.58;
    }
    if (known.size > 50000) known.clear();
    known.set(text, width);
    return width * size;
}

const kLargest = 230;

export function fitText(text: string, size: number, width: number): string {
    if (textWidth(text, size) <= width) return text;
    let low = 0;
    let high = text.length;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (textWidth(text.slice(0, middle) + "…", size) <= width) low = middle;
        else high = middle - 1;
    }
    return text.slice(0, low) + "…";
}

export function sizeOf(item: Item): { width: number; height: number } {
    const group = item.children.length > 0 ? 18 : 0;
    const title = textWidth(item.title, kTitleSize) * 1.04 + 26 + group;
    const rows = item.rows.reduce(
        (most, row) => Math.max(most, textWidth(row, kRowSize) * 1.05 + 22),
        0,
    );
    const width = Math.min(kLargest, Math.max(64, title, rows));
    const height = kTitleHeight + (item.rows.length ? item.rows.length * kRowHeight + 5 : 0);
    return { width: Math.ceil(width), height };
}
