// SPDX-License-Identifier: Apache-2.0
// Everything about one tensor. A live page asks for the numbers of weights and of the last run.

import type { Context } from "../context";
import type { TensorData, TensorInfo } from "../document";
import { button, facts, h, section } from "../dom";
import { statistics } from "../tensors/statistics";
import { attributeText, bytes, clean } from "../text";
import { outerProducer } from "../normalise";
import { boundsText, opLink, typeText } from "./links";

export async function runModel(context: Context): Promise<void> {
    try {
        context.say("running the model …");
        const answer = await context.api.run();
        for (const [name, data] of Object.entries(answer.tensors ?? {}))
            context.tensors.set(name, data);
        context.say(`${Object.keys(answer.tensors ?? {}).length} tensors from the run`);
        context.refresh();
    } catch (error) {
        context.say(String((error as Error).message));
    }
}

function numbers(context: Context, info: TensorInfo): HTMLElement {
    const place = h("div", {});
    const known = context.tensors.get(info.name);
    if (known) show(context, info, place, known);
    if (context.api.live && (known ? !known.slice : isWeight(info))) {
        // A run gives numbers without slices; they come one tensor at a time.
        if (!known) place.append(h("p", { class: "dim" }, "reading …"));
        void fetchInto(context, info, place, {});
    } else if (context.api.live && !known) {
        place.append(
            h("p", { class: "dim" }, "No run yet."),
            button(
                "run the model",
                "run the model once and keep all tensors",
                () => void runModel(context),
                "small",
            ),
        );
    } else if (!known) {
        place.append(
            h(
                "p",
                { class: "dim" },
                "This page has no numbers of the tensor. ",
                h("code", {}, "lemma view MODEL"),
                " can run the model.",
            ),
        );
    }
    return place;
}

function isWeight(info: TensorInfo): boolean {
    return info.role === "variable" || info.role === "constant";
}

function show(context: Context, info: TensorInfo, place: HTMLElement, data: TensorData): void {
    place.replaceChildren(statistics(context, data));
    if (context.api.live && Array.isArray(data.shape) && data.shape.length > 2)
        place.append(slicer(context, info, place, data.shape.length));
}

async function fetchInto(
    context: Context,
    info: TensorInfo,
    place: HTMLElement,
    options: Record<string, string>,
): Promise<void> {
    try {
        const data = await context.api.tensor(info.name, options);
        context.tensors.set(info.name, data);
        show(context, info, place, data);
    } catch (error) {
        context.say((error as Error).message);
        if (!context.tensors.has(info.name))
            place.replaceChildren(h("p", { class: "dim" }, (error as Error).message));
    }
}

// Which slice of a tensor of higher rank is shown: the axis of the columns, the rows are the axis
// before it, and the positions on the other axes.
function slicer(context: Context, info: TensorInfo, place: HTMLElement, rank: number): HTMLElement {
    const axis = h("input", {
        type: "number",
        min: 1,
        max: rank - 1,
        value: rank - 1,
        "aria-label": "axis of the columns",
    });
    const index = h("input", {
        type: "text",
        value: new Array(rank - 2).fill("0").join(","),
        "aria-label": "positions on the other axes",
    });
    return h(
        "p",
        { class: "slicer" },
        "columns: axis ",
        axis,
        " others at ",
        index,
        button(
            "show",
            "show this slice",
            () =>
                void fetchInto(context, info, place, {
                    axis: axis.value,
                    index: index.value.replace(/[^0-9,]/g, ""),
                }),
            "small",
        ),
    );
}

export function tensorPanel(context: Context, side: number, name: string): HTMLElement {
    const model = context.graphs[side].model;
    const info = model.tensors.get(name);
    if (!info) return h("p", { class: "dim" }, `There is no tensor ${clean(name, 100)}.`);
    const out = h(
        "div",
        { class: "operation" },
        h(
            "header",
            { class: "heading" },
            h(
                "p",
                { class: "eyebrow" },
                h("span", { class: "chip" }, "tensor"),
                clean(info.role, 20),
            ),
            h("h2", { class: "mono" }, clean(name, 200)),
        ),
    );
    const variable = model.variables.get(name);
    const from = outerProducer(model, name);
    const users = [...new Set(model.consumers.get(name) ?? [])];
    out.append(
        facts([
            ["type", h("span", { class: "mono" }, typeText(info))],
            ["bounds", boundsText(info)],
            ["value", info.value === undefined ? "" : attributeText(info.value, 400)],
            ["size", variable?.bytes ? bytes(variable.bytes) : ""],
            [
                "quantised",
                info.quantizer
                    ? `${clean(info.quantizer.operation, 60)} ${info.quantizer.attributes.map(([k, v]) => `${clean(k, 20)} = ${attributeText(v, 60)}`).join(", ")}`
                    : "",
            ],
            ["from", from ? opLink(context, side, from) : ""],
            [
                "to",
                users.length
                    ? h(
                          "span",
                          {},
                          ...users
                              .slice(0, 30)
                              .flatMap((u, i) => [i ? ", " : "", opLink(context, side, u)]),
                      )
                    : "",
            ],
        ]),
    );
    if (side === 0 && !context.doc.diff) out.append(section("Numbers", numbers(context, info)));
    return out;
}
