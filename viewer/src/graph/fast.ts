// SPDX-License-Identifier: Apache-2.0
// A layered layout in linear time for one level of the graph: cycles broken by depth-first search,
// longest-path layers, barycentre sweeps, then positions by isotonic regression, which is the least
// move that keeps the boxes of a layer apart. All loops are bounded.

export interface FlatGraph {
    width: Float32Array;
    height: Float32Array;
    from: Int32Array;
    to: Int32Array;
    members?: number; // nodes from here on are gates, at the top or at the bottom
    gates?: ("top" | "bottom")[];
}

export interface FlatLayout {
    x: Float32Array; // centres
    y: Float32Array; // tops
    bends: Map<number, [number, number][]>; // by edge: points between its ends
    width: number;
    height: number;
}

export interface Spacing {
    node: number;
    layer: number;
}

const kLongest = 40; // an edge over more layers gets no points of its own
const kWire = 10; // room for an edge that passes a layer

// Marks the edges that close a cycle.
export function backEdges(count: number, from: Int32Array, to: Int32Array): Uint8Array {
    const { start, list } = adjacency(count, from);
    const back = new Uint8Array(from.length);
    const state = new Uint8Array(count);
    const next = start.slice(0, count);
    const stack: number[] = [];
    for (let root = 0; root < count; root++) {
        if (state[root]) continue;
        stack.push(root);
        state[root] = 1;
        while (stack.length) {
            const at = stack[stack.length - 1];
            if (next[at] < start[at + 1]) {
                const edge = list[next[at]++];
                const target = to[edge];
                if (state[target] === 1) back[edge] = 1;
                else if (state[target] === 0) {
                    state[target] = 1;
                    stack.push(target);
                }
            } else {
                state[at] = 2;
                stack.pop();
            }
        }
    }
    return back;
}

export function adjacency(
    count: number,
    ends: Int32Array,
): { start: Int32Array; list: Int32Array } {
    const start = new Int32Array(count + 1);
    for (let e = 0; e < ends.length; e++) start[ends[e] + 1]++;
    for (let n = 0; n < count; n++) start[n + 1] += start[n];
    const fill = start.slice();
    const list = new Int32Array(ends.length);
    for (let e = 0; e < ends.length; e++) list[fill[ends[e]]++] = e;
    return { start, list };
}

// Longest path from the sources; a source then moves down to right above its first consumer.
export function layersOf(count: number, from: Int32Array, to: Int32Array): Int32Array {
    const { start, list } = adjacency(count, from);
    const indegree = new Int32Array(count);
    for (let e = 0; e < to.length; e++) indegree[to[e]]++;
    const layer = new Int32Array(count);
    const queue: number[] = [];
    for (let n = 0; n < count; n++) if (indegree[n] === 0) queue.push(n);
    const sources = queue.slice();
    for (let at = 0; at < queue.length; at++) {
        const node = queue[at];
        for (let i = start[node]; i < start[node + 1]; i++) {
            const target = to[list[i]];
            layer[target] = Math.max(layer[target], layer[node] + 1);
            if (--indegree[target] === 0) queue.push(target);
        }
    }
    for (const node of sources) {
        let first = Infinity;
        for (let i = start[node]; i < start[node + 1]; i++)
            first = Math.min(first, layer[to[list[i]]]);
        if (first !== Infinity && first > 0) layer[node] = first - 1;
    }
    return layer;
}

interface Layered {
    width: Float32Array; // of nodes, then of the points of long edges
    rows: number[][];
    up: number[][]; // neighbours in the layer above
    down: number[][];
    chains: Map<number, number[]>; // by edge: its points, from top to bottom
}

function insertPoints(
    graph: FlatGraph,
    from: Int32Array,
    to: Int32Array,
    layer: Int32Array,
): Layered {
    const count = graph.width.length;
    let budget = Math.max(2000, count * 3);
    const layers: number[] = Array.from(layer);
    const widths: number[] = Array.from(graph.width);
    const up: number[][] = Array.from({ length: count }, () => []);
    const down: number[][] = Array.from({ length: count }, () => []);
    const chains = new Map<number, number[]>();
    const connect = (a: number, b: number): void => {
        down[a].push(b);
        up[b].push(a);
    };
    for (let e = 0; e < from.length; e++) {
        const span = layer[to[e]] - layer[from[e]];
        if (span <= 1) {
            if (span === 1) connect(from[e], to[e]);
            continue;
        }
        if (span > kLongest && span > budget / 8) continue;
        if ((budget -= span - 1) < 0) continue;
        const chain: number[] = [];
        let last = from[e];
        for (let l = layer[from[e]] + 1; l < layer[to[e]]; l++) {
            const point = widths.length;
            widths.push(kWire);
            layers.push(l);
            up.push([]);
            down.push([]);
            connect(last, point);
            chain.push(point);
            last = point;
        }
        connect(last, to[e]);
        chains.set(e, chain);
    }
    const rows: number[][] = Array.from(
        { length: 1 + layers.reduce((m, l) => Math.max(m, l), 0) },
        () => [],
    );
    layers.forEach((l, n) => rows[l].push(n));
    return { width: Float32Array.from(widths), rows, up, down, chains };
}

// Orders each row by the mean position of its neighbours, down and up in turn.
function orderRows(layered: Layered): void {
    const { rows, up, down } = layered;
    const position = new Float32Array(layered.width.length);
    const key = new Float32Array(layered.width.length);
    rows.forEach((row) => row.forEach((n, i) => (position[n] = i)));
    const sweeps = layered.width.length > 20000 ? 4 : 10;
    for (let sweep = 0; sweep < sweeps; sweep++) {
        const downwards = sweep % 2 === 0;
        for (let r = 0; r < rows.length; r++) {
            const row = rows[downwards ? r : rows.length - 1 - r];
            if (row.length < 2) continue;
            for (const n of row) {
                const near = downwards ? up[n] : down[n];
                let sum = 0;
                for (const m of near) sum += position[m];
                key[n] = near.length ? sum / near.length : position[n];
            }
            row.sort((a, b) => key[a] - key[b] || position[a] - position[b]);
            row.forEach((n, i) => (position[n] = i));
        }
    }
}

// The places nearest to `wanted` at which neighbours keep `gap` apart (pool adjacent violators).
export function spread(wanted: number[], weight: number[], gap: number[]): number[] {
    const blocks: { sum: number; weight: number; count: number }[] = [];
    let offset = 0;
    const offsets: number[] = [];
    for (let i = 0; i < wanted.length; i++) {
        if (i) offset += gap[i - 1];
        offsets.push(offset);
        let block = { sum: (wanted[i] - offset) * weight[i], weight: weight[i], count: 1 };
        while (blocks.length) {
            const last = blocks[blocks.length - 1];
            if (last.sum / last.weight <= block.sum / block.weight) break;
            block = {
                sum: last.sum + block.sum,
                weight: last.weight + block.weight,
                count: last.count + block.count,
            };
            blocks.pop();
        }
        blocks.push(block);
    }
    const out: number[] = [];
    for (const block of blocks) {
        for (let i = 0; i < block.count; i++)
            out.push(block.sum / block.weight + offsets[out.length]);
    }
    return out;
}

function placeRows(layered: Layered, nodes: number, spacing: Spacing): Float64Array {
    const { rows, up, down, width } = layered;
    const x = new Float64Array(width.length);
    const gaps = rows.map((row) =>
        row
            .slice(1)
            .map(
                (n, i) =>
                    (width[n] + width[row[i]]) / 2 +
                    (n < nodes && row[i] < nodes ? spacing.node : spacing.node * 0.6),
            ),
    );
    rows.forEach((row, r) => {
        let at = 0;
        row.forEach((n, i) => (x[n] = i ? (at += gaps[r][i - 1]) : 0));
        for (const n of row) x[n] -= at / 2;
    });
    const sweeps = width.length > 5000 ? 6 : 12;
    const none: number[] = [];
    for (let sweep = 0; sweep <= sweeps; sweep++) {
        for (let step = 0; step < rows.length; step++) {
            const r = sweep % 2 === 0 ? step : rows.length - 1 - step;
            const wanted: number[] = [];
            const weight: number[] = [];
            const row = rows[r];
            for (const n of row) {
                const above = sweep === sweeps || sweep % 2 === 0 ? up[n] : none;
                const below = sweep === sweeps || sweep % 2 === 1 ? down[n] : none;
                const count = above.length + below.length;
                let sum = 0;
                for (const m of above) sum += x[m];
                for (const m of below) sum += x[m];
                wanted.push(count ? sum / count : x[n]);
                weight.push(count === 0 ? 0.2 : n >= nodes ? 6 : 1 + count);
            }
            const placed = row.length > 1 ? spread(wanted, weight, gaps[r]) : wanted;
            row.forEach((n, i) => (x[n] = placed[i]));
        }
    }
    return x;
}

// Boxes without edges stand in rows of their own.
function grid(graph: FlatGraph, spacing: Spacing): FlatLayout {
    const count = graph.width.length;
    const columns = Math.max(1, Math.ceil(Math.sqrt(count * 0.6)));
    const x = new Float32Array(count);
    const y = new Float32Array(count);
    let top = 0;
    let widest = 0;
    for (let begin = 0; begin < count; begin += columns) {
        let left = 0;
        let tall = 0;
        for (let n = begin; n < Math.min(count, begin + columns); n++) {
            x[n] = left + graph.width[n] / 2;
            y[n] = top;
            left += graph.width[n] + spacing.node;
            tall = Math.max(tall, graph.height[n]);
        }
        widest = Math.max(widest, left - spacing.node);
        top += tall + spacing.node;
    }
    return { x, y, bends: new Map(), width: widest, height: Math.max(0, top - spacing.node) };
}

// Gates lie on the border. An upper gate has only edges downwards, a lower one only edges to it.
function pinGates(graph: FlatGraph, layer: Int32Array): void {
    if (!graph.gates?.length) return;
    const last = layer.reduce((most, l) => Math.max(most, l), 0);
    graph.gates.forEach((side, g) => (layer[graph.members! + g] = side === "top" ? 0 : last));
}

export function layoutFlat(graph: FlatGraph, spacing: Spacing): FlatLayout {
    const count = graph.width.length;
    if (graph.from.length === 0) return grid(graph, spacing);
    const back = backEdges(count, graph.from, graph.to);
    const from = graph.from.map((f, e) => (back[e] ? graph.to[e] : f));
    const to = graph.to.map((t, e) => (back[e] ? graph.from[e] : t));
    const layer = layersOf(count, from, to);
    pinGates(graph, layer);
    const layered = insertPoints(graph, from, to, layer);
    orderRows(layered);
    const place = placeRows(layered, count, spacing);

    let left = Infinity;
    let right = -Infinity;
    for (let n = 0; n < place.length; n++) {
        left = Math.min(left, place[n] - layered.width[n] / 2);
        right = Math.max(right, place[n] + layered.width[n] / 2);
    }
    const top: number[] = [];
    const tall: number[] = [];
    let at = 0;
    layered.rows.forEach((row) => {
        let most = 0;
        for (const n of row) if (n < count) most = Math.max(most, graph.height[n]);
        top.push(at);
        tall.push(most);
        at +=
            most +
            (most ? spacing.layer : spacing.layer / 3) +
            Math.min(60, Math.max(0, row.length - 8) * 2);
    });
    const x = new Float32Array(count);
    const y = new Float32Array(count);
    for (let n = 0; n < count; n++) {
        x[n] = place[n] - left;
        y[n] = top[layer[n]] + (tall[layer[n]] - graph.height[n]) / 2;
    }
    const bends = new Map<number, [number, number][]>();
    for (const [edge, chain] of layered.chains) {
        const points: [number, number][] = [];
        chain.forEach((p, i) => {
            const l = layer[from[edge]] + 1 + i;
            points.push([place[p] - left, top[l]], [place[p] - left, top[l] + tall[l]]);
        });
        bends.set(edge, back[edge] ? points.reverse() : points);
    }
    return {
        x,
        y,
        bends,
        width: right - left,
        height: Math.max(0, top[top.length - 1] + tall[tall.length - 1]),
    };
}
