// SPDX-License-Identifier: Apache-2.0
// A few lines of the model's text around a place, with its line marked.

import type { Context } from "../context";
import type { Place } from "../document";
import { h } from "../dom";
import { clean } from "../text";

const kAround = 5;

export function placeText(place: Place | null | undefined): string {
    if (!place) return "";
    if (place.line)
        return `${clean(place.file, 200)}:${place.line}${place.column ? `:${place.column}` : ""}`;
    return place.path ? clean(place.path, 200) : clean(place.file, 200);
}

export function excerpt(context: Context, place: Place | null | undefined): HTMLElement | null {
    if (!place?.line || !place.file) return null;
    const base = (file: string): string => file.slice(file.lastIndexOf("/") + 1);
    const source =
        context.doc.sources.find((s) => s.file === place.file) ??
        context.doc.sources.find((s) => base(s.file) === base(place.file!));
    if (!source) return null;
    const lines = source.text.split("\n");
    if (place.line > lines.length) return null;
    const first = Math.max(1, place.line - kAround);
    const last = Math.min(lines.length, place.line + kAround);
    const code = h("pre", { class: "code excerpt" });
    for (let n = first; n <= last; n++) {
        code.append(
            h(
                "span",
                { class: n === place.line ? "line here" : "line" },
                h("span", { class: "line-number" }, String(n)),
                clean(lines[n - 1].replace(/\t/g, "    "), 400),
                "\n",
            ),
        );
    }
    return code;
}
