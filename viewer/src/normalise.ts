// SPDX-License-Identifier: Apache-2.0
// Reads a document of unknown quality into the types of document.ts. Never throws: a field of the
// wrong type counts as missing, and depth and size are bounded.

import type {
    Attribute,
    Body,
    Diagnostic,
    Extent,
    Formula,
    Model,
    Op,
    Place,
    Port,
    TensorData,
    TensorInfo,
    Verdict,
    ViewDocument,
} from "./document";
import { finite } from "./text";

const kMaxDepth = 64;
const kMaxOps = 400000;

type Json = Record<string, unknown>;

function record(value: unknown): Json {
    return value !== null && typeof value === "object" && !Array.isArray(value)
        ? (value as Json)
        : {};
}
function list(value: unknown): unknown[] {
    return Array.isArray(value) ? value : [];
}
function text(value: unknown, otherwise = ""): string {
    return typeof value === "string"
        ? value
        : typeof value === "number"
          ? String(value)
          : otherwise;
}
function texts(value: unknown): string[] {
    return list(value).map((v) => text(v));
}
function idOrNull(value: unknown): number | null {
    return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function attribute(value: unknown, depth = 0): Attribute {
    if (
        value === null ||
        typeof value === "boolean" ||
        typeof value === "number" ||
        typeof value === "string"
    )
        return value;
    if (Array.isArray(value)) return depth > 8 ? null : value.map((v) => attribute(v, depth + 1));
    return value === undefined ? null : JSON.stringify(value).slice(0, 100000);
}
function attributes(value: unknown): [string, Attribute][] {
    return Object.entries(record(value)).map(([name, v]) => [name, attribute(v)]);
}

function place(value: unknown): Place | null {
    const p = record(value);
    if (typeof p.file !== "string" && typeof p.path !== "string") return null;
    const out: Place = { file: text(p.file) };
    if (typeof p.line === "number") out.line = p.line;
    if (typeof p.column === "number") out.column = p.column;
    if (typeof p.path === "string") out.path = p.path;
    return out;
}

function extents(value: unknown): Extent[] {
    return list(value).map((e) => (typeof e === "number" ? e : text(e, "?")));
}

// The last word of an operator: `onnx.conv.Conv` → `Conv`.
export function titleOf(operation: string): string {
    const at = operation.lastIndexOf(".");
    return at >= 0 && at + 1 < operation.length ? operation.slice(at + 1) : operation || "?";
}

// The scopes that an exporter left in a label: `/layer1/layer1.0/conv1/Conv` → layer1, layer1.0, conv1.
// A scope with one operation is dissolved later (graph/items.ts).
export function scopeOf(label: string): string[] {
    if (label.length > 2000) return [];
    if (label.includes("/"))
        return label
            .split("/")
            .filter((p) => p !== "")
            .slice(0, -1)
            .slice(0, 12);
    if (/^[A-Za-z_]\w*(\.\w+)+$/.test(label)) {
        const parts = label.split(".");
        return parts
            .slice(0, -1)
            .map((_, i) => parts.slice(0, i + 1).join("."))
            .slice(0, 12);
    }
    return [];
}

class Reader {
    readonly ops: Op[] = [];
    readonly byId = new Map<number, Op>();
    readonly tensors = new Map<string, TensorInfo>();
    truncated = false;
    private nextId = 1;

    constructor(graph: Json) {
        this.nextId = 1 + this.largestId(graph.operations, 0);
    }

    private largestId(operations: unknown, depth: number): number {
        let largest = 0;
        if (depth > kMaxDepth) return 0;
        for (const each of list(operations)) {
            const op = record(each);
            largest = Math.max(largest, finite(op.id), this.largestId(op.parts, depth + 1));
            for (const body of list(op.bodies))
                largest = Math.max(largest, this.largestId(record(body).operations, depth + 1));
        }
        return largest;
    }

    tensor(value: unknown): TensorInfo | null {
        const t = record(value);
        if (typeof t.tensor !== "string") return null;
        const known = this.tensors.get(t.tensor);
        if (known) return known;
        const info: TensorInfo = {
            name: t.tensor,
            role: text(t.role, "intermediate"),
            dtype: text(t.dtype),
            shape: extents(t.shape),
            bounds: Array.isArray(t.bounds)
                ? t.bounds.map((b) => (typeof b === "number" ? b : null))
                : null,
        };
        if ("value" in t) info.value = attribute(t.value);
        if (t.quantizer) {
            const q = record(t.quantizer);
            info.quantizer = { operation: text(q.operation), attributes: attributes(q.attributes) };
        }
        this.tensors.set(info.name, info);
        return info;
    }

    port(value: unknown): Port {
        const p = record(value);
        const pack = Array.isArray(p.pack);
        const found = pack ? list(p.pack).map((t) => this.tensor(t)) : [this.tensor(p)];
        const tensors = found.filter((t): t is TensorInfo => t !== null);
        return { name: text(p.name), tensors, pack, missing: !pack && tensors.length === 0 };
    }
    ports(value: unknown): Port[] {
        return list(value).map((p) => this.port(p));
    }

    operations(value: unknown, parent: Op | null, depth: number): Op[] {
        const out: Op[] = [];
        if (depth > kMaxDepth) {
            this.truncated ||= list(value).length > 0;
            return out;
        }
        for (const each of list(value)) {
            if (this.ops.length >= kMaxOps) {
                this.truncated = true;
                break;
            }
            out.push(this.operation(record(each), parent, depth));
        }
        return out;
    }

    private operation(v: Json, parent: Op | null, depth: number): Op {
        const given = typeof v.id === "number" && !this.byId.has(v.id) ? v.id : this.nextId++;
        const operation = text(v.operation, "?");
        const label = text(v.label);
        const op: Op = {
            id: given,
            operation,
            label,
            parent,
            kind: text(v.kind, "primitive"),
            title: text(v.title) || titleOf(operation),
            scope: Array.isArray(v.scope)
                ? texts(v.scope).slice(0, 12)
                : parent
                  ? []
                  : scopeOf(label),
            place: place(v.place),
            dtypes: Object.entries(record(v.dtypes)).map(([k, d]) => [k, text(d)]),
            attributes: attributes(v.attributes),
            defaults: new Set(texts(v.defaults)),
            inputs: this.ports(v.inputs),
            outputs: this.ports(v.outputs),
            parameters: finite(v.parameters),
            macs: finite(v.macs),
            outputBytes: finite(v.output_bytes),
            assertions: list(v.assertions).map((a) =>
                typeof a === "string" ? a : text(record(a).condition) || text(record(a).message),
            ),
            iterations: text(v.iterations),
            parts: [],
            bodies: [],
            formulas: list(v.formulas).map((f) => record(f) as Formula),
            definition: text(v.definition) || operation,
        };
        this.ops.push(op);
        this.byId.set(op.id, op);
        op.parts = this.operations(v.parts, op, depth + 1);
        op.bodies = list(v.bodies).map((b): Body => {
            const body = record(b);
            return {
                role: text(body.role, "body"),
                operations: this.operations(body.operations, op, depth + 1),
                outputs: this.ports(body.outputs),
            };
        });
        return op;
    }
}

// The producer of a tensor is the innermost operation that has it among its outputs.
function link(model: Model): void {
    for (const op of model.ops) {
        for (const port of op.outputs) {
            for (const t of port.tensors) {
                const known = model.producer.get(t.name);
                if (!known || isInside(op, known)) model.producer.set(t.name, op);
            }
        }
        for (const port of op.inputs) {
            for (const t of port.tensors) {
                const users = model.consumers.get(t.name);
                if (!users) model.consumers.set(t.name, [op]);
                else if (users[users.length - 1] !== op) users.push(op);
            }
        }
    }
}

export function isInside(op: Op, group: Op): boolean {
    for (let at = op.parent; at; at = at.parent) if (at === group) return true;
    return false;
}

// The outermost operation that gives a tensor: a compound rather than its part.
export function outerProducer(model: Model, name: string): Op | undefined {
    let op = model.producer.get(name);
    while (op?.parent?.outputs.some((p) => p.tensors.some((t) => t.name === name))) op = op.parent;
    return op;
}

export function normaliseGraph(value: unknown): Model | null {
    if (value === null || typeof value !== "object") return null;
    const g = record(value);
    const reader = new Reader(g);
    const inputs = reader.ports(g.inputs);
    const variables = new Map<string, { parameters: number; bytes: number }>();
    for (const each of list(g.variables)) {
        const info = reader.tensor(each);
        if (info)
            variables.set(info.name, {
                parameters: finite(record(each).parameters),
                bytes: finite(record(each).bytes),
            });
    }
    const top = reader.operations(g.operations, null, 0);
    const model: Model = {
        name: text(g.graph),
        inputs,
        variables,
        top,
        outputs: reader.ports(g.outputs),
        ops: reader.ops,
        byId: reader.byId,
        tensors: reader.tensors,
        producer: new Map(),
        consumers: new Map(),
        updates: list(g.updates).map((u) => [text(record(u).variable), text(record(u).value)]),
        assertions: list(g.assertions).map((a) => text(record(a).condition)),
        totals: Object.entries(record(g.totals)).filter(
            (e): e is [string, number] => typeof e[1] === "number",
        ),
        metadata: Object.entries(record(g.metadata)).map(([k, v]) => [k, text(v)]),
        truncated: reader.truncated,
    };
    link(model);
    return model;
}

function diagnostics(value: unknown): Diagnostic[] {
    return list(value).map((each) => {
        const d = record(each);
        const severity = d.severity === "error" || d.severity === "warning" ? d.severity : "note";
        const out: Diagnostic = {
            severity,
            kind: text(d.kind),
            message: text(d.message),
            notes: [],
            operation: idOrNull(d.operation),
            page: text(d.page),
        };
        out.notes = list(d.notes).map((n) => (typeof n === "string" ? n : text(record(n).message)));
        const where = place(d.place);
        if (where) out.place = where;
        return out;
    });
}

function verdicts(value: unknown): Verdict[] {
    return list(value).map((each) => {
        const v = record(each);
        const status = v.status === "pass" || v.status === "fail" ? v.status : "unknown";
        return {
            rule: text(v.rule),
            status,
            message: text(v.message),
            place: text(v.place),
            operation: idOrNull(v.operation),
        };
    });
}

export function tensorTable(value: unknown): Map<string, TensorData> {
    return new Map(
        Object.entries(record(value)).map(([name, t]) => [name, record(t) as TensorData]),
    );
}

// Accepts a view document, or the bare graph that `lemma show --json` prints.
export function normalise(value: unknown): ViewDocument {
    let d = record(value);
    if (!("graph" in d) && !("diff" in d) && !("diagnostics" in d)) d = { schema: 1, graph: null };
    if (typeof d.graph === "string" || Array.isArray(d.operations)) d = { schema: 1, graph: d };
    const m = record(d.model);
    const profile = record(d.profile);
    return {
        schema: finite(d.schema, 1),
        version: text(d.version),
        model: {
            name: text(m.name) || text(record(d.graph).graph, "model"),
            format: text(m.format),
            path: text(m.path),
        },
        live: d.live === true,
        graph: d.graph ?? null,
        definitions: record(d.definitions) as ViewDocument["definitions"],
        diagnostics: diagnostics(d.diagnostics),
        profile: d.profile
            ? {
                  name: text(profile.name, "profile"),
                  conclusion: text(profile.conclusion),
                  verdicts: verdicts(profile.verdicts),
              }
            : null,
        sources: list(d.sources).map((s) => ({
            file: text(record(s).file),
            text: text(record(s).text),
        })),
        times: d.times ? (record(d.times) as ViewDocument["times"]) : null,
        errors: d.errors ? (record(d.errors) as ViewDocument["errors"]) : null,
        tensors: tensorTable(d.tensors),
        memory: d.memory ? (record(d.memory) as ViewDocument["memory"]) : null,
        kernels: list(d.kernels).map((k) => record(k) as ViewDocument["kernels"][number]),
        diff: d.diff ? (record(d.diff) as ViewDocument["diff"]) : null,
    };
}
