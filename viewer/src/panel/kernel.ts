// SPDX-License-Identifier: Apache-2.0
// The loops and the schedule that an operation became. A live page asks for them.

import type { Context } from "../context";
import type { Kernel, Op } from "../document";
import { button, h } from "../dom";
import { clean, cleanLines } from "../text";

const known = new Map<number, Kernel[]>();

function drawn(list: Kernel[]): HTMLElement {
    const out = h("div", { class: "kernels" });
    for (const kernel of list.slice(0, 20)) {
        out.append(
            h(
                "p",
                { class: "mono kernel-name" },
                clean(kernel.name, 120),
                Array.isArray(kernel.operations) && kernel.operations.length > 1
                    ? h("span", { class: "tag" }, `${kernel.operations.length} operations fused`)
                    : null,
            ),
        );
        if (kernel.schedule)
            out.append(
                h("h4", {}, "Schedule"),
                h("pre", { class: "code" }, cleanLines(kernel.schedule, 20000)),
            );
        if (kernel.loops)
            out.append(
                h("h4", {}, "Loops"),
                h("pre", { class: "code" }, cleanLines(kernel.loops, 40000)),
            );
    }
    if (!list.length)
        out.append(
            h(
                "p",
                { class: "dim" },
                "No kernel: the operation costs nothing, or is part of another one.",
            ),
        );
    return out;
}

export function kernels(context: Context, op: Op): HTMLElement | null {
    const inside = context.doc.kernels.filter(
        (k) => Array.isArray(k.operations) && k.operations.includes(op.id),
    );
    const found = inside.length ? inside : known.get(op.id);
    if (found) return drawn(found);
    if (!context.api.live) return null;
    const place = h("div", {});
    const ask = button(
        "show loops",
        "show the loop IR and the schedule of this operation",
        async () => {
            ask.disabled = true;
            try {
                const list = await context.api.kernels(op.id);
                known.set(op.id, list);
                place.replaceChildren(drawn(list));
            } catch (error) {
                ask.disabled = false;
                context.say(String((error as Error).message));
            }
        },
        "small",
    );
    place.append(ask);
    return place;
}
