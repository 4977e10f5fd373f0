// SPDX-License-Identifier: Apache-2.0
// The fast layout of a graph with open groups: each group is laid out on its own, innermost first,
// and is one box for the level around it. The arguments can travel to a worker.

import { layoutFlat, type Spacing } from "./fast";

// Boxes in pre-order; numbers are positions in this order, -1 is the top.
export interface LayoutRequest {
    parent: Int32Array;
    isOpen: Uint8Array;
    width: Float32Array;
    height: Float32Array;
    from: Int32Array;
    to: Int32Array;
    header: number;
    padding: number;
}

export interface LayoutResult {
    x: Float32Array; // left
    y: Float32Array; // top
    width: Float32Array;
    height: Float32Array;
    start: Int32Array; // edge e has the points start[e] … start[e + 1]
    points: Float32Array; // x and y in turn
}

export const kSpacing: Spacing = { node: 26, layer: 34 };

function depths(parent: Int32Array): Int32Array {
    const depth = new Int32Array(parent.length);
    for (let n = 0; n < parent.length; n++) depth[n] = parent[n] < 0 ? 0 : depth[parent[n]] + 1;
    return depth;
}

// One level: the members of a group, then its gates, through which edges enter and leave.
interface Level {
    members: number[];
    gates: ("top" | "bottom")[];
    gateOf: Map<number, number>; // the box that an edge comes from → its gate, negative for the bottom
    from: number[];
    to: number[];
    edgeOf: Map<number, number>; // pair of positions → edge of the level
    bends: Map<number, [number, number][]>;
    gateX: number[]; // where the gates are, from the group's left side
}

const kMostGates = 200; // of a group; more edges pass its border in the middle
const kStride = 1 << 22; // more than the positions of a level

// A piece of an edge on the way through a group: the gate, and the edge of the level.
interface Passage {
    group: number;
    gate: number;
    edge: number;
}

interface Path {
    begin: number; // the members of the level where both ends meet
    end: number;
    edge: number; // of that level
    out: Passage[]; // innermost first
    into: Passage[]; // outermost first
}

class Nest {
    readonly levels: Level[] = []; // of the top, at 0, and of open groups
    readonly position: Int32Array; // among its siblings
    private readonly depth: Int32Array;

    constructor(readonly request: LayoutRequest) {
        const { parent, isOpen } = request;
        this.depth = depths(parent);
        this.position = new Int32Array(parent.length);
        for (let n = -1; n < parent.length; n++) {
            if (n >= 0 && !isOpen[n]) continue;
            this.levels[n + 1] = {
                members: [],
                gates: [],
                gateOf: new Map(),
                from: [],
                to: [],
                edgeOf: new Map(),
                bends: new Map(),
                gateX: [],
            };
        }
        parent.forEach((p, n) => (this.position[n] = this.levels[p + 1].members.push(n) - 1));
    }

    private connect(level: Level, from: number, to: number): number {
        const key = from * kStride + to;
        let edge = level.edgeOf.get(key);
        if (edge === undefined) {
            edge = level.from.push(from) - 1;
            level.to.push(to);
            level.edgeOf.set(key, edge);
        }
        return edge;
    }

    // The gate for the edges of one box, so that they enter a group together.
    private passage(
        group: number,
        source: number,
        member: number,
        side: "top" | "bottom",
    ): Passage {
        const level = this.levels[group + 1];
        const key = side === "top" ? source : -1 - source;
        let gate = level.gateOf.get(key);
        if (gate === undefined) {
            if (level.gates.length >= kMostGates) return { group, gate: -1, edge: -1 };
            gate = level.gates.push(side) - 1;
            level.gateOf.set(key, gate);
        }
        const node = level.members.length + gate;
        const inside = this.position[member];
        return {
            group,
            gate,
            edge:
                side === "top"
                    ? this.connect(level, node, inside)
                    : this.connect(level, inside, node),
        };
    }

    // The way of an edge, or nothing if one end is inside the other.
    path(from: number, to: number): Path | null {
        const { parent } = this.request;
        let a = from;
        let b = to;
        while (this.depth[a] > this.depth[b]) a = parent[a];
        while (this.depth[b] > this.depth[a]) b = parent[b];
        while (parent[a] !== parent[b]) {
            a = parent[a];
            b = parent[b];
        }
        if (a === b) return null;
        const edge = this.connect(this.levels[parent[a] + 1], this.position[a], this.position[b]);
        const path: Path = { begin: a, end: b, edge, out: [], into: [] };
        for (let at = from; at !== a; at = parent[at]) {
            path.out.push(this.passage(parent[at], from, at, "bottom"));
        }
        for (let at = to; at !== b; at = parent[at]) {
            path.into.unshift(this.passage(parent[at], from, at, "top"));
        }
        return path;
    }
}

interface Boxes {
    x: Float32Array;
    y: Float32Array;
    width: Float32Array;
    height: Float32Array;
}

// Places the members of a group, relative to it, and gives the group its size.
function layoutLevel(request: LayoutRequest, here: Level, group: number, boxes: Boxes): void {
    const { x, y, width, height } = boxes;
    const count = here.members.length;
    const sizes = (of: Float32Array, gate: number): Float32Array =>
        Float32Array.from({ length: count + here.gates.length }, (_, i) =>
            i < count ? of[here.members[i]] : gate,
        );
    const graph = {
        width: sizes(width, 10),
        height: sizes(height, 0),
        from: Int32Array.from(here.from),
        to: Int32Array.from(here.to),
        members: count,
        gates: here.gates,
    };
    const laid = layoutFlat(graph, kSpacing);
    here.bends = laid.bends;
    const isTop = group < 0;
    const inner = isTop ? laid.width : Math.max(laid.width, width[group] - 2 * request.padding);
    const shift = (inner - laid.width) / 2 + (isTop ? 0 : request.padding);
    const drop = isTop ? 0 : request.header + request.padding / 2;
    here.members.forEach((m, i) => {
        x[m] = laid.x[i] - width[m] / 2 + shift;
        y[m] = laid.y[i] + drop;
    });
    here.gateX = here.gates.map((_, i) => laid.x[count + i] + shift);
    for (const points of laid.bends.values()) {
        for (const p of points) {
            p[0] += shift;
            p[1] += drop;
        }
    }
    if (isTop) return;
    width[group] = inner + 2 * request.padding;
    height[group] = laid.height + drop + request.padding;
}

// The points of an edge, from the bottom of one box to the top of the other.
function trace(nest: Nest, path: Path, from: number, to: number, boxes: Boxes): number[] {
    const { x, y, width, height } = boxes;
    const points = [x[from] + width[from] / 2, y[from] + height[from]];
    const bends = (group: number, edge: number): void => {
        for (const [px, py] of nest.levels[group + 1].bends.get(edge) ?? []) {
            points.push(px + (group < 0 ? 0 : x[group]), py + (group < 0 ? 0 : y[group]));
        }
    };
    const gate = ({ group, gate: n }: Passage, atTop: boolean): void => {
        const across = n < 0 ? width[group] / 2 : nest.levels[group + 1].gateX[n];
        points.push(x[group] + across, y[group] + (atTop ? 0 : height[group]));
    };
    for (const passage of path.out) {
        bends(passage.group, passage.edge);
        gate(passage, false);
    }
    bends(nest.request.parent[path.begin], path.edge);
    for (const passage of path.into) {
        gate(passage, true);
        bends(passage.group, passage.edge);
    }
    points.push(x[to] + width[to] / 2, y[to]);
    return points;
}

export function layoutNested(request: LayoutRequest): LayoutResult {
    const { parent, isOpen } = request;
    const count = parent.length;
    const nest = new Nest(request);
    const paths = Array.from(request.from, (from, e) => nest.path(from, request.to[e]));
    const boxes: Boxes = {
        x: new Float32Array(count),
        y: new Float32Array(count),
        width: request.width.slice(),
        height: request.height.slice(),
    };
    for (let group = count - 1; group >= -1; group--) {
        if (group < 0 || isOpen[group]) layoutLevel(request, nest.levels[group + 1], group, boxes);
    }
    for (let n = 0; n < count; n++) {
        if (parent[n] < 0) continue;
        boxes.x[n] += boxes.x[parent[n]];
        boxes.y[n] += boxes.y[parent[n]];
    }
    const start = new Int32Array(paths.length + 1);
    const points: number[] = [];
    paths.forEach((path, e) => {
        if (path) {
            for (const p of trace(nest, path, request.from[e], request.to[e], boxes))
                points.push(p);
        }
        start[e + 1] = points.length / 2;
    });
    return { ...boxes, start, points: Float32Array.from(points) };
}
