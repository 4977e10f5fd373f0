// SPDX-License-Identifier: Apache-2.0
// Everything about one operation.

import type { Context } from "../context";
import type { Attribute, Op, Port } from "../document";
import { button, facts, h, section } from "../dom";
import { coloursOf, familyOf, kFamilyNames } from "../family";
import {
    attributeText,
    bytes,
    clean,
    cleanLines,
    grouped,
    milliseconds,
    percent,
    real,
    short,
} from "../text";
import { formulas } from "./formula";
import { kernels } from "./kernel";
import { boundsText, opLink, tensorLink, typeText } from "./links";
import { problemsOf } from "./problems";
import { excerpt, placeText } from "./source";

const kParts = 24; // parts whose formulas a compound shows
const kShown = 300; // characters of a value before it folds

function value(v: Attribute): HTMLElement {
    const text = attributeText(v, 4000);
    if (text.length <= kShown) return h("span", { class: "mono value" }, text);
    return h(
        "details",
        { class: "long" },
        h("summary", { class: "mono" }, text.slice(0, 80) + "…"),
        h("div", { class: "mono value" }, text),
    );
}

function attributes(op: Op): HTMLElement {
    const list = h("dl", { class: "facts attributes" });
    const sorted = [...op.attributes].sort(
        (a, b) => Number(op.defaults.has(a[0])) - Number(op.defaults.has(b[0])),
    );
    for (const [name, v] of sorted.slice(0, 200)) {
        const standard = op.defaults.has(name);
        list.append(
            h("dt", { class: standard ? "default" : "" }, clean(name, 60)),
            h(
                "dd",
                { class: standard ? "default" : "", title: standard ? "the default" : undefined },
                value(v),
                standard ? h("span", { class: "tag" }, "default") : null,
            ),
        );
    }
    return list;
}

function portRows(
    context: Context,
    side: number,
    op: Op,
    ports: Port[],
    inputs: boolean,
): HTMLElement {
    const model = context.graphs[side].model;
    const list = h("ul", { class: "ports" });
    for (const port of ports.slice(0, 100)) {
        if (port.missing) {
            list.append(
                h(
                    "li",
                    { class: "dim" },
                    h("span", { class: "port-name" }, clean(port.name, 40)),
                    "not given",
                ),
            );
            continue;
        }
        for (const t of port.tensors.slice(0, 50)) {
            const row = h(
                "li",
                {},
                h("span", { class: "port-name" }, clean(port.name, 40)),
                tensorLink(context, side, t),
            );
            row.append(h("span", { class: "type" }, typeText(t)));
            if (t.value !== undefined)
                row.append(h("span", { class: "mono dim" }, `= ${attributeText(t.value, 60)}`));
            if (t.bounds) row.append(h("span", { class: "dim" }, boundsText(t)));
            if (inputs) {
                const from = model.producer.get(t.name);
                if (from)
                    row.append(
                        h(
                            "span",
                            { class: "ends" },
                            "from ",
                            opLink(context, side, outermost(from, op)),
                        ),
                    );
                else row.append(h("span", { class: "ends dim" }, t.role));
            } else {
                const users = new Set(
                    (model.consumers.get(t.name) ?? [])
                        .filter((u) => u !== op)
                        .map((u) => outermost(u, op)),
                );
                users.delete(op);
                const shown = [...users].slice(0, 8);
                if (shown.length)
                    row.append(
                        h(
                            "span",
                            { class: "ends" },
                            "to ",
                            ...shown.flatMap((u, i) => [i ? ", " : "", opLink(context, side, u)]),
                            users.size > 8 ? ` and ${users.size - 8} more` : "",
                        ),
                    );
            }
            list.append(row);
        }
    }
    return list;
}

// The neighbour at the level of `near`: a compound instead of its part.
function outermost(op: Op, near: Op): Op {
    let at = op;
    while (at.parent && at.parent !== near.parent && at.parent !== near) at = at.parent;
    return at;
}

function cost(context: Context, op: Op): HTMLElement | null {
    const { times, errors } = context.measured;
    const ms = times?.operations?.[String(op.id)];
    const peak = times?.share_of_peak?.[String(op.id)];
    const error = errors?.operations?.[String(op.id)];
    const rows: [string, string][] = [];
    if (op.macs) rows.push(["multiply-adds", `${short(op.macs)}  (${grouped(op.macs)})`]);
    if (op.parameters) rows.push(["parameters", grouped(op.parameters)]);
    if (op.outputBytes) rows.push(["output", bytes(op.outputBytes)]);
    if (typeof ms === "number")
        rows.push([
            "time",
            milliseconds(ms) +
                (times?.total_ms ? `  (${percent(ms / times.total_ms)} of the run)` : ""),
        ]);
    if (typeof peak === "number") rows.push(["share of peak", percent(peak)]);
    if (error)
        rows.push([
            "largest error",
            `${real(error.max_abs)} absolute, ${real(error.max_rel)} relative`,
        ]);
    return rows.length ? facts(rows) : null;
}

export function heading(context: Context, side: number, op: Op): HTMLElement {
    const index = context.graphs[side].byOp.get(op) ?? -1;
    const item = context.graphs[side].items[index];
    const family = familyOf(op.operation, op.kind);
    const colours = coloursOf(family, context.dark);
    const chip = h("span", { class: "chip" }, kFamilyNames[family]);
    chip.style.background = colours.fill;
    chip.style.color = colours.ink;
    chip.style.borderColor = colours.line;
    const head = h(
        "header",
        { class: "heading" },
        h("p", { class: "eyebrow" }, chip, h("span", {}, clean(op.kind, 20))),
        h("h2", {}, clean(op.title, 120)),
    );
    head.append(h("p", { class: "mono operator" }, clean(op.operation, 200)));
    if (op.label) head.append(h("p", { class: "mono dim label" }, clean(op.label, 400)));
    const row = h("p", { class: "actions" });
    if (op.parent) row.append("part of ", opLink(context, side, op.parent));
    if (item?.children.length)
        row.append(
            button(
                "open / close",
                "open or close the group (Enter)",
                () => context.toggle(side, index),
                "small",
            ),
        );
    if (row.childNodes.length) head.append(row);
    return head;
}

// A compound has the formulas of its parts.
function partFormulas(context: Context, side: number, op: Op): HTMLElement | null {
    const parts: Op[] = [];
    const collect = (list: Op[]): void => {
        for (const part of list) {
            if (parts.length >= kParts) return;
            if (part.formulas.length) parts.push(part);
            else collect(part.parts);
        }
    };
    collect(op.parts);
    if (!parts.length) return null;
    if (parts.length === 1) return formulas(parts[0].formulas);
    return h(
        "div",
        {},
        ...parts.flatMap((part) => [
            h("p", { class: "part" }, opLink(context, side, part)),
            formulas(part.formulas),
        ]),
    );
}

export function operation(context: Context, side: number, op: Op): HTMLElement {
    const out = h("div", { class: "operation" }, heading(context, side, op));
    const definition = Object.hasOwn(context.doc.definitions, op.definition)
        ? context.doc.definitions[op.definition]
        : undefined;
    const problems = side === 0 ? problemsOf(context, op.id) : null;
    if (problems) out.append(problems);
    const math = formulas(op.formulas) ?? partFormulas(context, side, op);
    if (math) out.append(section("Formula", math));
    else if (definition?.formula)
        out.append(
            section("Formula", h("pre", { class: "code" }, cleanLines(definition.formula, 8000))),
        );
    out.append(section("Inputs", portRows(context, side, op, op.inputs, true)));
    out.append(section("Outputs", portRows(context, side, op, op.outputs, false)));
    if (op.attributes.length) out.append(section("Attributes", attributes(op)));
    if (op.dtypes.length)
        out.append(
            section(
                "Types",
                facts(
                    op.dtypes.map(([n, t]) => [
                        clean(n, 40),
                        h("span", { class: "mono" }, clean(t, 40)),
                    ]),
                ),
            ),
        );
    const counts = cost(context, op);
    if (counts) out.append(section("Cost", counts));
    const kernel = side === 0 ? kernels(context, op) : null;
    if (kernel) out.append(section("Kernel", kernel));
    const asserts = [
        ...op.assertions.map((a) => ({ condition: a, message: "checked by each run" })),
        ...(Array.isArray(definition?.asserts) ? definition!.asserts! : []),
    ];
    if (asserts.length) {
        out.append(
            section(
                "Conditions",
                h(
                    "ul",
                    { class: "asserts" },
                    ...asserts
                        .slice(0, 60)
                        .map((a) =>
                            h(
                                "li",
                                {},
                                h("code", {}, clean(a?.condition, 300)),
                                a?.message
                                    ? h("span", { class: "dim" }, clean(a.message, 300))
                                    : null,
                            ),
                        ),
                ),
            ),
        );
    }
    if (op.place) {
        const lines = excerpt(context, op.place);
        out.append(
            section("Source", h("p", { class: "mono dim place" }, placeText(op.place)), lines),
        );
    }
    if (definition && (definition.documentation || definition.signature)) {
        out.append(
            section(
                "Definition",
                definition.documentation
                    ? h("p", { class: "documentation" }, cleanLines(definition.documentation, 8000))
                    : null,
                definition.signature
                    ? h("pre", { class: "code" }, cleanLines(definition.signature, 8000))
                    : null,
                definition.definition
                    ? h(
                          "details",
                          { class: "plain" },
                          h("summary", {}, "the whole operator"),
                          h("pre", { class: "code" }, cleanLines(definition.definition, 20000)),
                      )
                    : math && definition.formula
                      ? h("pre", { class: "code" }, cleanLines(definition.formula, 8000))
                      : null,
                definition.place
                    ? h("p", { class: "mono dim place" }, placeText(definition.place))
                    : null,
            ),
        );
    }
    return out;
}
