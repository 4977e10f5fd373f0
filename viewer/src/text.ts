// SPDX-License-Identifier: Apache-2.0
// Texts for people: hostile names made harmless, numbers and shapes made short.

import type { Attribute, Extent } from "./document";

// Control characters, marks that change the direction of text, and lone surrogates.
const kHidden =
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escapeHidden(c: string): string {
    if (c === "\n") return "⏎";
    if (c === "\t") return " ";
    return "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
}

// One line of at most `max` characters in which every character can be seen.
export function clean(value: unknown, max = 200): string {
    const text = typeof value === "string" ? value : value == null ? "" : String(value);
    const cut = text.length > max ? text.slice(0, max) + "…" : text;
    return cut.replace(kHidden, escapeHidden);
}

// Several lines: line ends and tabs stay.
export function cleanLines(value: unknown, max = 200000): string {
    const text = typeof value === "string" ? value : "";
    const cut = text.length > max ? text.slice(0, max) + "\n…" : text;
    return cut.replace(kHidden, (c) =>
        c === "\n" || c === "\t" ? c : c === "\r" ? "" : escapeHidden(c),
    );
}

export function finite(value: unknown, otherwise = 0): number {
    return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

const kSteps: [number, string][] = [
    [1e18, "E"],
    [1e15, "P"],
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
];

// 1234567 → "1.23 M"
export function short(value: number): string {
    if (!Number.isFinite(value)) return String(value);
    for (const [size, unit] of kSteps) {
        if (Math.abs(value) >= size) return `${digits(value / size)} ${unit}`;
    }
    return digits(value);
}

function digits(value: number): string {
    if (Number.isInteger(value) && Math.abs(value) < 1000) return String(value);
    return Math.abs(value) >= 100
        ? value.toFixed(0)
        : Math.abs(value) >= 10
          ? value.toFixed(1)
          : value.toFixed(2);
}

export function bytes(value: number): string {
    if (value < 1000) return `${value} B`;
    return short(value).replace(/ (.)$/, " $1B");
}

// A real number of tensors: four significant digits.
export function real(value: unknown): string {
    if (typeof value === "string") return clean(value, 40);
    if (typeof value !== "number") return "–";
    if (!Number.isFinite(value)) return String(value);
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
    return String(Number(value.toPrecision(4)));
}

export function milliseconds(value: number): string {
    if (value === 0) return "0";
    if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
    if (value >= 1) return `${value.toFixed(2)} ms`;
    return `${(value * 1000).toFixed(1)} µs`;
}

export function percent(value: number): string {
    return `${(value * 100).toFixed(value >= 0.1 ? 0 : 1)} %`;
}

export function grouped(value: number): string {
    return Number.isFinite(value)
        ? value.toLocaleString("en-US").replace(/,/g, "\u2009")
        : String(value);
}

export function shapeText(shape: Extent[]): string {
    if (shape.length === 0) return "scalar";
    return (
        shape
            .slice(0, 12)
            .map((e) => clean(e, 40))
            .join("×") + (shape.length > 12 ? "×…" : "")
    );
}

// A number that is exact in 32 bits has seven digits that mean something: 1e-5, not 0.00000999999974.
export function numberText(value: number): string {
    return Number.isInteger(value) || Math.fround(value) !== value
        ? String(value)
        : String(Number(value.toPrecision(7)));
}

// An attribute's value as one line; the depth and the length are bounded.
export function attributeText(value: Attribute, max = 2000, depth = 0): string {
    if (typeof value === "string") return `"${clean(value, max)}"`;
    if (typeof value === "number") return numberText(value);
    if (!Array.isArray(value)) return String(value);
    if (depth > 8) return "[…]";
    const parts: string[] = [];
    let size = 0;
    for (const each of value) {
        const text = attributeText(each, max, depth + 1);
        size += text.length + 2;
        if (size > max) {
            parts.push(`… ${value.length - parts.length} more`);
            break;
        }
        parts.push(text);
    }
    return `[${parts.join(", ")}]`;
}
