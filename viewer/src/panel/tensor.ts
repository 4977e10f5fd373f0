// SPDX-License-Identifier: Apache-2.0
// Everything about one tensor. A live page asks for the numbers of weights and of the last run.

import type { Context } from "../context";
import type { TensorInfo } from "../document";
import { button, facts, h, section } from "../dom";
import { statistics } from "../tensors/statistics";
import { attributeText, bytes, clean } from "../text";
import { boundsText, opLink, typeText } from "./links";

export async function runModel(context: Context): Promise<void> {
    try {
        context.say("running the model …");
        const answer = await context.api.run();
        for (const [name, data] of Object.entries(answer.tensors ?? {})) context.tensors.set(name, data);
        context.say(`${Object.keys(answer.tensors ?? {}).length} tensors from the run`);
        context.refresh();
    } catch (error) {
        context.say(String((error as Error).message));
    }
}

function numbers(context: Context, info: TensorInfo): HTMLElement {
    const place = h("div", {});
    const known = context.tensors.get(info.name);
    if (known) {
        place.append(statistics(context, known));
        if (context.api.live && Array.isArray(known.shape) && known.shape.length > 2) place.append(slicer(context, info, place));
        return place;
    }
    if (!context.api.live) {
        place.append(h("p", { class: "dim" }, "This page has no numbers of the tensor. ", h("code", {}, "lemma view MODEL"), " can run the model."));
        return place;
    }
    const weight = info.role === "variable" || info.role === "constant";
    place.append(h("p", { class: "dim" }, weight ? "reading …" : "No run yet."));
    if (!weight) place.append(button("run the model", "run the model once and keep all tensors", () => void runModel(context), "small"));
    else void fetchInto(context, info, place, {});
    return place;
}

async function fetchInto(context: Context, info: TensorInfo, place: HTMLElement, options: Record<string, string>): Promise<void> {
    try {
        const data = await context.api.tensor(info.name, options);
        context.tensors.set(info.name, data);
        place.replaceChildren(statistics(context, data));
        if (Array.isArray(data.shape) && data.shape.length > 2) place.append(slicer(context, info, place));
    } catch (error) {
        place.replaceChildren(h("p", { class: "dim" }, (error as Error).message));
    }
}

// Which slice of a tensor of higher rank is shown.
function slicer(context: Context, info: TensorInfo, place: HTMLElement): HTMLElement {
    const axis = h("input", { type: "number", min: 0, max: Math.max(0, info.shape.length - 1), value: 0, "aria-label": "axis" });
    const index = h("input", { type: "number", min: 0, value: 0, "aria-label": "index" });
    return h("p", { class: "slicer" }, "axis ", axis, " index ", index, button("show", "show this slice", () => void fetchInto(context, info, place, { axis: axis.value, index: index.value }), "small"));
}

export function tensorPanel(context: Context, side: number, name: string): HTMLElement {
    const model = context.graphs[side].model;
    const info = model.tensors.get(name);
    if (!info) return h("p", { class: "dim" }, `There is no tensor ${clean(name, 100)}.`);
    const out = h("div", { class: "operation" }, h("header", { class: "heading" }, h("p", { class: "eyebrow" }, h("span", { class: "chip" }, "tensor"), clean(info.role, 20)), h("h2", { class: "mono" }, clean(name, 200))));
    const variable = model.variables.get(name);
    const from = model.producer.get(name);
    const users = [...new Set(model.consumers.get(name) ?? [])];
    out.append(facts([
        ["type", h("span", { class: "mono" }, typeText(info))], ["bounds", boundsText(info)],
        ["value", info.value === undefined ? "" : attributeText(info.value, 400)],
        ["size", variable?.bytes ? bytes(variable.bytes) : ""],
        ["quantised", info.quantizer ? `${clean(info.quantizer.operation, 60)} ${info.quantizer.attributes.map(([k, v]) => `${clean(k, 20)} = ${attributeText(v, 60)}`).join(", ")}` : ""],
        ["from", from ? opLink(context, side, from) : ""],
        ["to", users.length ? h("span", {}, ...users.slice(0, 30).flatMap((u, i) => [i ? ", " : "", opLink(context, side, u)])) : ""],
    ]));
    if (side === 0 && !context.doc.diff) out.append(section("Numbers", numbers(context, info)));
    return out;
}
