// SPDX-License-Identifier: Apache-2.0
// The view document as `lemma view` writes it. Every field may be missing and every text is hostile;
// normalise.ts turns a document into the checked model that the rest of the page reads.

export type Extent = number | string;
export type Attribute = null | boolean | number | string | Attribute[];

export interface Place {
    file?: string;
    line?: number;
    column?: number;
    path?: string;
}

// A formula as a tree; math/mathml.ts draws it.
export type Tree =
    | { k: "num"; v: string }
    | { k: "name"; v: string }
    | { k: "index"; of: Tree; at: Tree[] }
    | { k: "op"; v: string; args: Tree[] }
    | { k: "call"; v: string; args: Tree[] }
    | { k: "sum" | "prod" | "max" | "min" | "any" | "all"; over: string[]; of: Tree }
    | { k: "cases"; arms: [Tree | null, Tree][] }
    | { k: "neg"; of: Tree };

export interface Formula {
    text?: string;
    tree?: Tree;
    ranges?: [string, string, string][];
    conditions?: Tree[];
    lets?: [string, Tree][]; // names of the tree that stand for longer terms
}

export interface Definition {
    signature?: string;
    documentation?: string;
    asserts?: { condition?: string; message?: string }[];
    formula?: string;
    definition?: string; // the whole operator
    place?: Place;
    builtin?: boolean;
}

export interface Diagnostic {
    severity: "error" | "warning" | "note";
    kind?: string;
    message: string;
    notes: string[];
    place?: Place;
    operation: number | null;
    page?: string;
}

export interface Verdict {
    rule: string;
    status: "pass" | "fail" | "unknown";
    message: string;
    place: string;
    operation: number | null;
}

export interface TensorData {
    dtype?: string;
    shape?: Extent[];
    elements?: number;
    min?: number;
    max?: number;
    mean?: number;
    std?: number;
    zeros?: number;
    nan?: number;
    inf?: number;
    histogram?: { low: number; high: number; counts: number[] };
    slice?: { shape: [number, number]; values: (number | string | null)[]; of?: string };
    image?: boolean;
}

export interface KernelTime {
    name?: string;
    ms?: number;
    operations?: number[];
    macs?: number;
    bytes?: number;
    share_of_peak?: number;
}

export interface Times {
    threads?: number;
    total_ms?: number;
    operations?: Record<string, number>;
    share_of_peak?: Record<string, number>;
    kernels?: KernelTime[];
}

export interface Errors {
    operations?: Record<string, { max_abs?: number; max_rel?: number }>;
}

export interface MemoryPlan {
    arena_bytes?: number;
    steps?: number;
    step_names?: string[];
    blocks?: { tensor: string; first: number; last: number; offset: number; bytes: number }[];
}

export interface Kernel {
    operations?: number[];
    name?: string;
    schedule?: string;
    loops?: string;
}

export interface Change {
    a?: number;
    b?: number;
    what?: string;
    name?: string;
    before?: unknown;
    after?: unknown;
    amount?: unknown;
}

export interface NumberRow {
    a?: string;
    b?: string;
    max_abs?: number;
    max_rel?: number;
    equal?: boolean;
}

export interface Diff {
    a?: unknown;
    b?: unknown;
    pairs?: [number, number, string][];
    only_a?: number[];
    only_b?: number[];
    changes?: Change[];
    numbers?: NumberRow[];
    first?: number | null;
}

export interface ViewDocument {
    schema?: number;
    version?: string;
    model: { name: string; format: string; path?: string };
    live: boolean;
    graph: unknown;
    definitions: Record<string, Definition>;
    diagnostics: Diagnostic[];
    profile: { name: string; conclusion: string; verdicts: Verdict[] } | null;
    sources: { file: string; text: string }[];
    times: Times | null;
    errors: Errors | null;
    tensors: Map<string, TensorData>;
    memory: MemoryPlan | null;
    kernels: Kernel[];
    diff: Diff | null;
}

export interface TensorInfo {
    name: string;
    role: string;
    dtype: string;
    shape: Extent[];
    bounds: (number | null)[] | null;
    value?: Attribute;
    quantizer?: { operation: string; attributes: [string, Attribute][] };
}

export interface Port {
    name: string;
    tensors: TensorInfo[];
    pack: boolean;
    missing: boolean;
}

export interface Body {
    role: string;
    operations: Op[];
    outputs: Port[];
}

export interface Op {
    id: number;
    operation: string;
    kind: string;
    label: string;
    title: string;
    scope: string[];
    place: Place | null;
    dtypes: [string, string][];
    attributes: [string, Attribute][];
    defaults: Set<string>;
    inputs: Port[];
    outputs: Port[];
    parameters: number;
    macs: number;
    outputBytes: number;
    assertions: string[];
    iterations: string;
    parts: Op[];
    bodies: Body[];
    formulas: Formula[];
    definition: string;
    parent: Op | null;
}

// One graph after normalisation. `ops` lists the operations of every depth, parents first.
export interface Model {
    name: string;
    inputs: Port[];
    outputs: Port[];
    variables: Map<string, { parameters: number; bytes: number }>;
    top: Op[];
    ops: Op[];
    byId: Map<number, Op>;
    tensors: Map<string, TensorInfo>;
    producer: Map<string, Op>;
    consumers: Map<string, Op[]>;
    updates: [string, string][];
    assertions: string[];
    totals: [string, number][];
    metadata: [string, string][];
    truncated: boolean;
}
