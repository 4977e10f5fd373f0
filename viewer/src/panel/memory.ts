// SPDX-License-Identifier: Apache-2.0
// The memory plan; a live page asks for it when the tab is first opened.

import type { Context } from "../context";
import { h } from "../dom";
import { memoryChart } from "../tensors/memory";

export function memoryPanel(context: Context): HTMLElement {
    const out = h("div", {}, h("h2", {}, "Memory plan"));
    const place = h("div", {});
    out.append(place);
    if (context.doc.memory) place.append(memoryChart(context, context.doc.memory));
    else {
        place.append(h("p", { class: "dim" }, "planning …"));
        context.api.memory().then(
            (plan) => {
                context.doc.memory = plan;
                place.replaceChildren(memoryChart(context, plan));
            },
            (error: Error) => place.replaceChildren(h("p", { class: "dim" }, error.message)),
        );
    }
    return out;
}
