// SPDX-License-Identifier: Apache-2.0
// Diagnostics and verdicts of a profile, as a list and beside an operation.

import type { Context } from "../context";
import type { Diagnostic, Verdict } from "../document";
import { h, section } from "../dom";
import { clean, cleanLines } from "../text";
import { excerpt, placeText } from "./source";

const kMost = 500;

function jump(context: Context, operation: number | null): HTMLElement | null {
    const graph = context.graphs[0];
    const op = operation === null || !graph ? undefined : graph.model.byId.get(operation);
    if (!op) return null;
    return h(
        "button",
        {
            type: "button",
            class: "link",
            onclick: () => context.selectItem(0, graph.byOp.get(op)!),
        },
        clean(op.label || op.title, 80),
    );
}

function diagnostic(context: Context, d: Diagnostic, withSource: boolean): HTMLElement {
    const row = h(
        "li",
        { class: `problem ${d.severity}` },
        h(
            "p",
            {},
            h("span", { class: "severity" }, d.severity),
            clean(d.message, 600),
            d.kind ? h("span", { class: "tag" }, clean(d.kind, 60)) : null,
        ),
    );
    for (const note of d.notes.slice(0, 20))
        row.append(h("p", { class: "dim note-line" }, clean(note, 400)));
    const link = jump(context, d.operation);
    const where = placeText(d.place);
    if (link || where)
        row.append(
            h(
                "p",
                { class: "where" },
                link,
                where ? h("span", { class: "mono dim" }, where) : null,
            ),
        );
    if (withSource) {
        const lines = excerpt(context, d.place);
        if (lines) row.append(lines);
    }
    if (d.page)
        row.append(
            h(
                "details",
                { class: "plain" },
                h("summary", {}, "about this problem"),
                h("p", { class: "documentation" }, cleanLines(d.page, 8000)),
            ),
        );
    return row;
}

function verdict(context: Context, v: Verdict, profile: string): HTMLElement {
    return h(
        "li",
        { class: `problem ${v.status === "fail" ? "error" : "note"}` },
        h(
            "p",
            {},
            h("span", { class: "severity" }, v.status),
            clean(v.message, 600),
            h("span", { class: "tag" }, `${clean(profile, 20)} ${clean(v.rule, 40)}`),
        ),
        h(
            "p",
            { class: "where" },
            jump(context, v.operation),
            v.place ? h("span", { class: "mono dim" }, clean(v.place, 200)) : null,
        ),
    );
}

export function problemCount(context: Context): number {
    return (
        context.doc.diagnostics.length +
        (context.doc.profile?.verdicts.filter((v) => v.status !== "pass").length ?? 0)
    );
}

export function problemPanel(context: Context): HTMLElement {
    const out = h("div", { class: "problems" }, h("h2", {}, "Problems"));
    const { diagnostics, profile } = context.doc;
    const order = { error: 0, warning: 1, note: 2 };
    const sorted = [...diagnostics].sort((a, b) => order[a.severity] - order[b.severity]);
    if (sorted.length)
        out.append(
            h(
                "ul",
                { class: "plain-list" },
                ...sorted.slice(0, kMost).map((d) => diagnostic(context, d, true)),
            ),
        );
    if (profile) {
        const open = profile.verdicts.filter((v) => v.status !== "pass");
        const passed = profile.verdicts.length - open.length;
        out.append(
            section(
                `Profile ${clean(profile.name, 40)}${profile.conclusion ? `: ${clean(profile.conclusion, 60)}` : ""}`,
                h(
                    "p",
                    { class: "dim" },
                    `${passed} passed, ${open.filter((v) => v.status === "fail").length} failed, ${open.filter((v) => v.status === "unknown").length} unknown`,
                ),
                h(
                    "ul",
                    { class: "plain-list" },
                    ...open.slice(0, kMost).map((v) => verdict(context, v, profile.name)),
                ),
            ),
        );
    }
    if (!sorted.length && !profile) out.append(h("p", { class: "dim" }, "No problems."));
    return out;
}

// The problems of one operation, or nothing.
export function problemsOf(context: Context, id: number): HTMLElement | null {
    const own = context.doc.diagnostics.filter((d) => d.operation === id);
    const failed =
        context.doc.profile?.verdicts.filter((v) => v.operation === id && v.status !== "pass") ??
        [];
    if (own.length + failed.length === 0) return null;
    return h(
        "ul",
        { class: "plain-list own" },
        ...own.map((d) => diagnostic(context, d, false)),
        ...failed.map((v) => verdict(context, v, context.doc.profile!.name)),
    );
}

// Markers on the boxes: by item, and on the closed groups around it.
export function markers(context: Context): Map<number, "error" | "warning"> {
    const out = new Map<number, "error" | "warning">();
    const graph = context.graphs[0];
    if (!graph) return out;
    const put = (id: number | null, severity: "error" | "warning"): void => {
        const op = id === null ? undefined : graph.model.byId.get(id);
        for (let at = op ? graph.byOp.get(op)! : -1; at >= 0; at = graph.items[at].parent) {
            if (out.get(at) !== "error") out.set(at, severity);
        }
    };
    for (const d of context.doc.diagnostics)
        if (d.severity !== "note") put(d.operation, d.severity);
    for (const v of context.doc.profile?.verdicts ?? [])
        if (v.status !== "pass") put(v.operation, v.status === "fail" ? "error" : "warning");
    return out;
}
