// SPDX-License-Identifier: Apache-2.0
// All tensors with numbers: weights, and the results of a run.

import type { Context } from "../context";
import { button, h } from "../dom";
import { bytes, clean, finite, real } from "../text";
import { typeText } from "./links";
import { runModel } from "./tensor";

const kMost = 400;

export function tensorsPanel(context: Context): HTMLElement {
    const model = context.graphs[0].model;
    const out = h("div", { class: "tensors" }, h("h2", {}, "Tensors"));
    if (context.api.live)
        out.append(
            h(
                "p",
                {},
                button(
                    "run the model",
                    "run the model once and keep all tensors",
                    () => void runModel(context),
                    "small",
                ),
            ),
        );
    const names = [...context.tensors.keys()].filter((n) => model.tensors.has(n));
    const others = [...model.variables.keys()].filter((n) => !context.tensors.has(n));
    const rows = [...names, ...others].slice(0, kMost).map((name) => {
        const info = model.tensors.get(name)!;
        const data = context.tensors.get(name);
        const bad = data && finite(data.nan) + finite(data.inf) > 0;
        return h(
            "tr",
            {},
            h(
                "td",
                { class: "mono" },
                h(
                    "button",
                    {
                        type: "button",
                        class: "link",
                        title: clean(name, 400),
                        onclick: () => context.selectTensor(0, name),
                    },
                    clean(name, 48),
                ),
            ),
            h("td", { class: "mono dim" }, typeText(info)),
            h(
                "td",
                { class: bad ? "number error" : "number" },
                data && data.mean !== undefined
                    ? `${real(data.mean)} ± ${real(data.std)}`
                    : bytes(model.variables.get(name)?.bytes ?? 0),
            ),
        );
    });
    if (rows.length)
        out.append(
            h(
                "table",
                { class: "numbers" },
                h(
                    "thead",
                    {},
                    h(
                        "tr",
                        {},
                        h("th", {}, "tensor"),
                        h("th", {}, "type"),
                        h("th", {}, names.length ? "mean ± deviation" : "size"),
                    ),
                ),
                h("tbody", {}, ...rows),
            ),
        );
    else out.append(h("p", { class: "dim" }, "The model has no weights."));
    const all = names.length + others.length;
    if (all > kMost)
        out.append(h("p", { class: "dim" }, `and ${all - kMost} more; the search finds them`));
    return out;
}
