// SPDX-License-Identifier: Apache-2.0
// The overlays: which one colours the graph, and its operations by rank.

import type { Context } from "../context";
import { button, h } from "../dom";
import { heat } from "../overlays/scale";
import { kOverlays, lowest, shareOf } from "../overlays/overlays";
import { clean, milliseconds, percent } from "../text";
import { lastPart } from "./links";

const kMost = 200;

export async function measure(context: Context, what: "times" | "errors"): Promise<void> {
    context.say(what === "times" ? "measuring …" : "comparing the kernels with the interpreter …");
    try {
        if (what === "times") context.measured.times = await context.api.profile(0);
        else context.measured.errors = await context.api.compare();
        context.setOverlay(context.overlay);
        context.say("done");
    } catch (error) {
        context.say(String((error as Error).message));
    }
}

export function rankingPanel(context: Context): HTMLElement {
    const out = h("div", { class: "ranking" }, h("h2", {}, "Overlays"));
    const choice = h("div", { class: "choice", role: "radiogroup", "aria-label": "overlay" });
    for (const o of [{ name: "", title: "None" }, ...kOverlays]) {
        choice.append(
            h(
                "button",
                {
                    type: "button",
                    role: "radio",
                    "aria-checked": context.overlay === o.name ? "true" : "false",
                    class: context.overlay === o.name ? "on" : "",
                    onclick: () => context.setOverlay(o.name),
                },
                o.title,
            ),
        );
    }
    out.append(choice);
    const overlay = kOverlays.find((o) => o.name === context.overlay);
    if (!overlay) {
        out.append(
            h(
                "p",
                { class: "dim" },
                "An overlay colours the operations by what they cost, and ranks them.",
            ),
        );
        return out;
    }
    const missing = overlay.needs !== "" && !context.measured[overlay.needs];
    if (overlay.needs && context.api.live) {
        out.append(
            button(
                missing ? "measure" : "measure again",
                "measure on this machine",
                () => void measure(context, overlay.needs as "times" | "errors"),
                "small",
            ),
        );
    } else if (missing) {
        out.append(
            h(
                "p",
                { class: "dim" },
                "This page has no measurement. ",
                h("code", {}, "lemma view MODEL"),
                " measures on demand.",
            ),
        );
    }
    const found = context.heat;
    if (!found || missing) return out;
    const times = context.measured.times;
    if (overlay.needs === "times" && times?.total_ms)
        out.append(
            h(
                "p",
                { class: "dim" },
                `${milliseconds(times.total_ms)} in all${times.threads ? `, ${times.threads} ${times.threads === 1 ? "thread" : "threads"}` : ""}`,
            ),
        );
    const graph = context.graphs[0];
    const list = h("ol", { class: "ranks" });
    for (const { index, value } of found.ranking.slice(0, kMost)) {
        if (value === 0 && list.childNodes.length) break;
        const item = graph.items[index];
        const bar = h("span", { class: "bar" });
        bar.style.width = `${Math.max(1, (Number.isFinite(value) && found.most > 0 ? value / found.most : 1) * 100)}%`;
        bar.style.background = heat(
            Math.max(
                0.25,
                shareOf(overlay, value, found.most, lowest(overlay, found.least, found.most)),
            ),
            context.dark,
        );
        const share = overlay.sums && found.total > 0 ? percent(value / found.total) : "";
        list.append(
            h(
                "li",
                {},
                h(
                    "button",
                    { type: "button", class: "rank", onclick: () => context.selectItem(0, index) },
                    h(
                        "span",
                        { class: "rank-name" },
                        item.title,
                        h(
                            "span",
                            { class: "dim" },
                            item.op?.label ? ` ${clean(lastPart(item.op.label), 60)}` : "",
                        ),
                    ),
                    h("span", { class: "number" }, overlay.unit(value)),
                    h("span", { class: "number dim" }, share),
                    h("span", { class: "bar-track" }, bar),
                ),
            ),
        );
    }
    out.append(list);
    if (found.ranking.length > kMost)
        out.append(h("p", { class: "dim" }, `and ${found.ranking.length - kMost} more`));
    return out;
}
