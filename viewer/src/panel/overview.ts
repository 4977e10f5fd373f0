// SPDX-License-Identifier: Apache-2.0
// The model as a whole: what is shown while nothing is selected.

import type { Context } from "../context";
import type { Model, Port } from "../document";
import { facts, h, section } from "../dom";
import { coloursOf, familyOf, kFamilyNames, type Family } from "../family";
import { bytes, clean, cleanLines, grouped, short } from "../text";
import { boundsText, tensorLink, typeText } from "./links";

const kTotals: Record<string, [string, (n: number) => string]> = {
    operations: ["operations", grouped],
    primitives: ["primitive operations", grouped],
    parameters: ["parameters", (n) => `${short(n)}  (${grouped(n)})`],
    weight_bytes: ["weights", bytes],
    macs: ["multiply-adds", (n) => short(n)],
    activation_bytes: ["activations", bytes],
    peak_activation_bytes: ["peak of activations", bytes],
};

function ports(context: Context, side: number, list: Port[]): HTMLElement {
    const rows = list
        .slice(0, 200)
        .flatMap((p) =>
            p.tensors.map((t) =>
                h(
                    "li",
                    {},
                    tensorLink(context, side, t),
                    h("span", { class: "type" }, typeText(t)),
                    t.bounds ? h("span", { class: "dim" }, boundsText(t)) : null,
                ),
            ),
        );
    return h("ul", { class: "ports" }, ...rows);
}

// A bar per operator, the most frequent first; a click searches for it.
function histogram(context: Context, model: Model): HTMLElement {
    const counts = new Map<string, { count: number; family: Family; operation: string }>();
    for (const op of model.top) {
        const known = counts.get(op.title);
        if (known) known.count++;
        else
            counts.set(op.title, {
                count: 1,
                family: familyOf(op.operation, op.kind),
                operation: op.operation,
            });
    }
    const sorted = [...counts.entries()].sort((a, b) => b[1].count - a[1].count).slice(0, 24);
    const most = sorted[0]?.[1].count ?? 1;
    const table = h("div", { class: "bars", role: "list" });
    for (const [title, { count, family, operation }] of sorted) {
        const bar = h("span", { class: "bar" });
        bar.style.width = `${Math.max(2, (count / most) * 100)}%`;
        const colours = coloursOf(family, context.dark);
        bar.style.background = colours.line;
        table.append(
            h(
                "div",
                {
                    class: "bar-row",
                    role: "listitem",
                    title: `${clean(operation)} · ${kFamilyNames[family]}`,
                },
                h("span", { class: "bar-name" }, clean(title, 40)),
                h("span", { class: "bar-track" }, bar),
                h("span", { class: "number" }, String(count)),
            ),
        );
    }
    return table;
}

export function overview(context: Context, side: number): HTMLElement {
    const { doc } = context;
    const model = context.graphs[side]?.model;
    if (!model)
        return h(
            "div",
            {},
            h("h2", {}, clean(doc.model.name)),
            h("p", { class: "dim" }, "The model has no graph. The problems tell why."),
        );
    const out = h("div", { class: "overview" });
    out.append(
        h("p", { class: "eyebrow" }, clean(doc.model.format || "graph", 20)),
        h("h2", {}, clean(doc.model.name || model.name, 120)),
    );
    if (model.name && model.name !== doc.model.name)
        out.append(h("p", { class: "dim mono" }, clean(model.name)));
    const cards = h("div", { class: "cards" });
    const total = new Map(model.totals);
    const card = (name: string, value: string): void =>
        void cards.append(h("div", { class: "card" }, h("b", {}, value), h("span", {}, name)));
    card("operations", grouped(total.get("operations") ?? model.top.length));
    if (total.has("parameters")) card("parameters", short(total.get("parameters")!));
    if (total.has("macs")) card("multiply-adds", short(total.get("macs")!));
    if (total.has("peak_activation_bytes"))
        card("peak memory", bytes(total.get("peak_activation_bytes")!));
    out.append(cards);
    if (model.truncated)
        out.append(
            h(
                "p",
                { class: "note" },
                "The graph is deeper or larger than this page shows. Some operations are left out.",
            ),
        );
    if (model.inputs.length) out.append(section("Inputs", ports(context, side, model.inputs)));
    if (model.outputs.length) out.append(section("Outputs", ports(context, side, model.outputs)));
    if (model.top.length) out.append(section("Operators", histogram(context, model)));
    out.append(
        section(
            "Totals",
            facts(
                model.totals.map(([name, value]) => [
                    kTotals[name]?.[0] ?? clean(name, 40),
                    (kTotals[name]?.[1] ?? grouped)(value),
                ]),
            ),
        ),
    );
    if (model.updates.length)
        out.append(
            section(
                "State",
                facts(model.updates.slice(0, 100).map(([v, by]) => [clean(v, 60), clean(by, 60)])),
            ),
        );
    if (model.assertions.length)
        out.append(
            section(
                "Checked by each run",
                h(
                    "ul",
                    {},
                    ...model.assertions
                        .slice(0, 100)
                        .map((a) => h("li", { class: "mono" }, clean(a, 300))),
                ),
            ),
        );
    if (model.metadata.length)
        out.append(
            section(
                "Metadata",
                facts(model.metadata.slice(0, 100).map(([k, v]) => [clean(k, 60), clean(v, 600)])),
            ),
        );
    const main = doc.sources[0];
    if (main && side === 0) {
        const folded = section("Source", h("pre", { class: "code" }, cleanLines(main.text, 20000)));
        folded.removeAttribute("open");
        out.append(folded);
    }
    return out;
}
