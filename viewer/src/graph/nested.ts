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

interface Level {
    members: number[];
    from: number[];
    to: number[];
    edgeOf: Map<number, number>; // pair of members → edge of the level
    bends: Map<number, [number, number][]>;
}

export function layoutNested(request: LayoutRequest): LayoutResult {
    const { parent, isOpen } = request;
    const count = parent.length;
    const depth = depths(parent);
    const level: Level[] = []; // of the top and of the open groups
    for (let n = -1; n < count; n++) {
        if (n < 0 || isOpen[n])
            level[n + 1] = { members: [], from: [], to: [], edgeOf: new Map(), bends: new Map() };
    }
    const at = new Int32Array(count); // position among its siblings
    for (let n = 0; n < count; n++) at[n] = level[parent[n] + 1].members.push(n) - 1;

    // Each edge belongs to the level where its two paths meet.
    const edges = request.from.length;
    const home = new Int32Array(edges);
    const begin = new Int32Array(edges);
    const end = new Int32Array(edges);
    for (let e = 0; e < edges; e++) {
        let a = request.from[e];
        let b = request.to[e];
        while (depth[a] > depth[b]) a = parent[a];
        while (depth[b] > depth[a]) b = parent[b];
        while (parent[a] !== parent[b]) {
            a = parent[a];
            b = parent[b];
        }
        home[e] = -1;
        if (a === b) continue;
        const where = level[parent[a] + 1];
        const key = at[a] * where.members.length + at[b];
        let known = where.edgeOf.get(key);
        if (known === undefined) {
            known = where.from.push(at[a]) - 1;
            where.to.push(at[b]);
            where.edgeOf.set(key, known);
        }
        home[e] = known;
        begin[e] = a;
        end[e] = b;
    }

    const width = request.width.slice();
    const height = request.height.slice();
    const x = new Float32Array(count);
    const y = new Float32Array(count);
    for (let group = count - 1; group >= -1; group--) {
        if (group >= 0 && !isOpen[group]) continue;
        const here = level[group + 1];
        const laid = layoutFlat(
            {
                width: Float32Array.from(here.members, (m) => width[m]),
                height: Float32Array.from(here.members, (m) => height[m]),
                from: Int32Array.from(here.from),
                to: Int32Array.from(here.to),
            },
            kSpacing,
        );
        here.bends = laid.bends;
        const inner =
            group < 0 ? laid.width : Math.max(laid.width, width[group] - 2 * request.padding);
        const shift = (inner - laid.width) / 2 + (group < 0 ? 0 : request.padding);
        const drop = group < 0 ? 0 : request.header + request.padding / 2;
        here.members.forEach((m, i) => {
            x[m] = laid.x[i] - width[m] / 2 + shift;
            y[m] = laid.y[i] + drop;
        });
        for (const points of laid.bends.values())
            for (const p of points) ((p[0] += shift), (p[1] += drop));
        if (group >= 0) {
            width[group] = inner + 2 * request.padding;
            height[group] = laid.height + drop + request.padding;
        }
    }
    for (let n = 0; n < count; n++) {
        if (parent[n] < 0) continue;
        x[n] += x[parent[n]];
        y[n] += y[parent[n]];
    }

    const start = new Int32Array(edges + 1);
    const points: number[] = [];
    for (let e = 0; e < edges; e++) {
        if (home[e] >= 0) {
            const a = request.from[e];
            const b = request.to[e];
            points.push(x[a] + width[a] / 2, y[a] + height[a]);
            if (begin[e] !== a)
                points.push(x[begin[e]] + width[begin[e]] / 2, y[begin[e]] + height[begin[e]]);
            const owner = parent[begin[e]];
            const left = owner < 0 ? 0 : x[owner];
            const top = owner < 0 ? 0 : y[owner];
            for (const [px, py] of level[owner + 1].bends.get(home[e]) ?? [])
                points.push(px + left, py + top);
            if (end[e] !== b) points.push(x[end[e]] + width[end[e]] / 2, y[end[e]]);
            points.push(x[b] + width[b] / 2, y[b]);
        }
        start[e + 1] = points.length / 2;
    }
    return { x, y, width, height, start, points: Float32Array.from(points) };
}
