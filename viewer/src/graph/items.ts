// SPDX-License-Identifier: Apache-2.0
// The tree of everything that can be a box: operations, their parts, bodies of control flow, scopes of
// the exporter, inputs and outputs of the graph. Edges connect the innermost items.

import type { Model, Op, Port, TensorInfo } from "../document";
import { familyOf, type Family } from "../family";
import { attributeText, clean, shapeText } from "../text";

export type ItemKind = "op" | "scope" | "body" | "input" | "output";

export interface Item {
    index: number;
    key: string; // stable between visits: deep links use it
    kind: ItemKind;
    title: string;
    rows: string[]; // small lines in the box: weights and a few attributes
    family: Family;
    op: Op | null;
    port: Port | null;
    parent: number; // -1 at the top
    depth: number;
    children: number[];
}

export interface Edges {
    from: Int32Array;
    to: Int32Array;
    tensor: TensorInfo[];
}

export interface Graph {
    model: Model;
    items: Item[];
    top: number[];
    edges: Edges;
    byKey: Map<string, number>;
    byOp: Map<Op, number>;
}

const kRows = 3;

function isWeight(model: Model, t: TensorInfo): boolean {
    return !model.producer.has(t.name) && (t.role === "variable" || t.role === "constant");
}

// What is worth a line in the box: weights with their shapes, then attributes that say something.
function rowsOf(model: Model, op: Op): string[] {
    const rows: string[] = [];
    for (const port of op.inputs) {
        for (const t of port.tensors) {
            if (rows.length >= kRows || !isWeight(model, t) || t.shape.length === 0) continue;
            rows.push(`${clean(port.name, 14)} ${shapeText(t.shape)}`);
        }
    }
    for (const [name, value] of op.attributes) {
        if (rows.length >= kRows) break;
        if (
            op.defaults.has(name) ||
            !/stride|kernel|^size|axis|axes|perm|group|dilat|epsilon|^shape$/.test(name)
        )
            continue;
        if (
            Array.isArray(value)
                ? value.length === 0 || value.length > 6 || value.some(Array.isArray)
                : typeof value !== "number"
        )
            continue;
        if (rows.length > 0 && name.startsWith("kernel")) continue; // the shape of the weight says it
        if (
            /stride|dilat|group/.test(name) &&
            (Array.isArray(value) ? value : [value]).every((v) => v === 1)
        )
            continue;
        rows.push(
            `${clean(name, 14)} ${Array.isArray(value) ? value.map((v) => clean(v, 12)).join(/perm|ax[ie]s/.test(name) ? ", " : "×") : attributeText(value, 24)}`,
        );
    }
    if (op.kind === "control" && op.iterations) rows.push(`${clean(op.iterations, 24)} iterations`);
    return rows;
}

interface ScopeNode {
    name: string;
    path: string;
    scopes: Map<string, ScopeNode>;
    members: (Op | ScopeNode)[];
}

function scopeTree(ops: Op[]): ScopeNode {
    const root: ScopeNode = { name: "", path: "", scopes: new Map(), members: [] };
    for (const op of ops) {
        let at = root;
        for (const name of op.scope) {
            let next = at.scopes.get(name);
            if (!next) {
                next = {
                    name,
                    path: at.path ? `${at.path}/${name}` : name,
                    scopes: new Map(),
                    members: [],
                };
                at.scopes.set(name, next);
                at.members.push(next);
            }
            at = next;
        }
        at.members.push(op);
    }
    return root;
}

// A scope that holds one thing only says nothing: the thing takes its place.
function dissolve(node: ScopeNode): void {
    node.members = node.members.map((m) => {
        if (!("members" in m)) return m;
        dissolve(m);
        return m.members.length === 1 ? m.members[0] : m;
    });
}

function scopesOf(ops: Op[]): ScopeNode {
    const scopes = scopeTree(ops);
    dissolve(scopes);
    // One scope around everything is no help either.
    if (scopes.members.length === 1 && "members" in scopes.members[0])
        scopes.members = scopes.members[0].members;
    return scopes;
}

class Builder {
    readonly items: Item[] = [];
    readonly byKey = new Map<string, number>();
    readonly byOp = new Map<Op, number>();

    constructor(readonly model: Model) {}

    add(
        kind: ItemKind,
        key: string,
        title: string,
        parent: number,
        op: Op | null,
        port: Port | null,
    ): Item {
        const family: Family =
            kind === "op" && op
                ? familyOf(op.operation, op.kind)
                : kind === "scope"
                  ? "scope"
                  : kind === "body"
                    ? "control"
                    : "port";
        let unique = key;
        for (let n = 2; this.byKey.has(unique); n++) unique = `${key}~${n}`;
        const item: Item = {
            index: this.items.length,
            key: unique,
            kind,
            title: clean(title, 60),
            rows: [],
            family,
            op,
            port,
            parent,
            depth: parent < 0 ? 0 : this.items[parent].depth + 1,
            children: [],
        };
        this.items.push(item);
        this.byKey.set(unique, item.index);
        if (parent >= 0) this.items[parent].children.push(item.index);
        return item;
    }

    op(op: Op, parent: number): number {
        const item = this.add("op", `o${op.id}`, op.title, parent, op, null);
        item.rows = rowsOf(this.model, op);
        this.byOp.set(op, item.index);
        // A compound with one part that is all it does opens into that part like any other.
        for (const part of op.parts) this.op(part, item.index);
        op.bodies.forEach((body, n) => {
            const group = this.add("body", `b${op.id}.${n}`, body.role, item.index, op, null);
            group.port = {
                name: body.role,
                tensors: body.outputs.flatMap((p) => p.tensors),
                pack: true,
                missing: false,
            };
            if (body.operations.length === 0)
                group.rows = group.port.tensors.slice(0, 2).map((t) => clean(t.name, 24));
            this.members(scopesOf(body.operations), group.index, `b${op.id}.${n}/`);
        });
        return item.index;
    }

    members(node: ScopeNode, parent: number, prefix: string): number[] {
        return node.members.map((m) => {
            if (!("members" in m)) return this.op(m, parent);
            const group = this.add("scope", `s${prefix}${m.path}`, m.name, parent, null, null);
            this.members(m, group.index, prefix);
            return group.index;
        });
    }
}

function edgesOf(builder: Builder): Edges {
    const { model, byOp } = builder;
    const from: number[] = [];
    const to: number[] = [];
    const tensor: TensorInfo[] = [];
    const source = new Map<string, number>();
    for (const [name, op] of model.producer) source.set(name, byOp.get(op)!);
    const ports = (kind: ItemKind): Item[] =>
        builder.items.filter((i) => i.kind === kind && i.port);
    for (const item of ports("input")) {
        for (const t of item.port!.tensors) if (!source.has(t.name)) source.set(t.name, item.index);
    }
    const last = new Map<string, number>(); // a tensor that a box reads twice has one edge to it
    const connect = (target: number, used: Port[], skip: Set<string> | null): void => {
        for (const port of used) {
            for (const t of port.tensors) {
                const begin = source.get(t.name);
                if (
                    begin === undefined ||
                    begin === target ||
                    last.get(t.name) === target ||
                    skip?.has(t.name)
                )
                    continue;
                last.set(t.name, target);
                from.push(begin);
                to.push(target);
                tensor.push(t);
            }
        }
    };
    for (const op of model.ops) {
        const inner =
            op.parts.length || !op.bodies.length
                ? op.parts
                : op.bodies.flatMap((b) => b.operations);
        const covered = inner.length
            ? new Set(
                  inner.flatMap((p) => p.inputs.flatMap((port) => port.tensors.map((t) => t.name))),
              )
            : null;
        connect(byOp.get(op)!, op.inputs, covered);
    }
    for (const item of ports("output")) connect(item.index, [item.port!], null);
    for (const item of ports("body")) connect(item.index, [item.port!], null); // conditions and results
    return { from: Int32Array.from(from), to: Int32Array.from(to), tensor };
}

export function buildGraph(model: Model): Graph {
    const builder = new Builder(model);
    const top: number[] = [];
    const row = (port: Port): string[] =>
        port.tensors.slice(0, 1).map((t) => `${clean(t.dtype, 8)} ${shapeText(t.shape)}`);
    for (const port of model.inputs) {
        const item = builder.add("input", `i${port.name}`, port.name || "input", -1, null, port);
        item.rows = row(port);
        top.push(item.index);
    }
    top.push(...builder.members(scopesOf(model.top), -1, ""));
    for (const port of model.outputs) {
        const item = builder.add("output", `z${port.name}`, port.name || "output", -1, null, port);
        item.rows = row(port);
        top.push(item.index);
    }
    return {
        model,
        items: builder.items,
        top,
        edges: edgesOf(builder),
        byKey: builder.byKey,
        byOp: builder.byOp,
    };
}

// The groups that are open at the start: scopes, outermost first, while the picture stays readable.
export function openAtStart(graph: Graph, limit = 120): Set<number> {
    const open = new Set<number>();
    let visible = graph.top.length;
    let level = graph.top.filter((i) => graph.items[i].kind === "scope");
    while (level.length) {
        const next: number[] = [];
        for (const index of level) {
            const item = graph.items[index];
            if (visible + item.children.length > limit) continue;
            open.add(index);
            visible += item.children.length;
            next.push(...item.children.filter((c) => graph.items[c].kind === "scope"));
        }
        level = next;
    }
    return open;
}

// An item and its ancestors, innermost first.
export function pathOf(graph: Graph, index: number): number[] {
    const path: number[] = [];
    for (let at = index; at >= 0 && path.length < 1000; at = graph.items[at].parent) path.push(at);
    return path;
}
