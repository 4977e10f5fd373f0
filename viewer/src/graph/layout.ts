// SPDX-License-Identifier: Apache-2.0
// Chooses the layout: ELK for small graphs, the fast one for large graphs and while ELK works.

import { layoutElk } from "./elk";
import type { Graph } from "./items";
import { layoutNested, type LayoutRequest, type LayoutResult } from "./nested";
import { kHeader, kPadding, type Visible, type VisibleEdge } from "./visible";

export interface Box {
    item: number;
    x: number;
    y: number;
    width: number;
    height: number;
    open: boolean;
}

export interface Route {
    edge: VisibleEdge;
    points: Float32Array;
}

export interface Layout {
    boxes: Box[]; // groups before their members
    at: Map<number, Box>; // by item
    routes: Route[];
    width: number;
    height: number;
    by: "elk" | "fast";
}

const kElkLimit = 600; // boxes
const kElkEdgeLimit = 1500;
const kWorkerLimit = 400; // a smaller layout takes a millisecond and needs no worker

export function requestOf(graph: Graph, visible: Visible): LayoutRequest {
    const position = new Map(visible.shown.map((item, n) => [item, n]));
    return {
        parent: Int32Array.from(visible.shown, (i) => position.get(graph.items[i].parent) ?? -1),
        isOpen: Uint8Array.from(visible.shown, (i) => visible.isOpen[i]),
        width: Float32Array.from(visible.shown, (i) => visible.width[i]),
        height: Float32Array.from(visible.shown, (i) => visible.height[i]),
        from: Int32Array.from(visible.edges, (e) => position.get(e.from)!),
        to: Int32Array.from(visible.edges, (e) => position.get(e.to)!),
        header: kHeader,
        padding: kPadding,
    };
}

function layoutOf(visible: Visible, result: LayoutResult, by: "elk" | "fast"): Layout {
    const layout: Layout = { boxes: [], at: new Map(), routes: [], width: 0, height: 0, by };
    visible.shown.forEach((item, n) => {
        const box: Box = {
            item,
            x: result.x[n],
            y: result.y[n],
            width: result.width[n],
            height: result.height[n],
            open: visible.isOpen[item] === 1,
        };
        layout.boxes.push(box);
        layout.at.set(item, box);
        layout.width = Math.max(layout.width, box.x + box.width);
        layout.height = Math.max(layout.height, box.y + box.height);
    });
    visible.edges.forEach((edge, e) => {
        const points = result.points.subarray(result.start[e] * 2, result.start[e + 1] * 2);
        if (points.length >= 4) layout.routes.push({ edge, points });
    });
    return layout;
}

let worker: Worker | null | undefined;
let nextId = 1;
const waiting = new Map<number, (result: LayoutResult | null) => void>();

function startWorker(): Worker | null {
    if (worker !== undefined) return worker;
    worker = null;
    const code = document.getElementById("lemma-layout")?.textContent;
    if (!code) return null;
    try {
        worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        worker.onmessage = (event: MessageEvent<{ id: number; result?: LayoutResult }>) => {
            waiting.get(event.data.id)?.(event.data.result ?? null);
            waiting.delete(event.data.id);
        };
        worker.onerror = () => {
            worker = null;
            for (const done of waiting.values()) done(null);
            waiting.clear();
        };
    } catch {
        worker = null;
    }
    return worker;
}

async function fast(request: LayoutRequest): Promise<LayoutResult> {
    const helper = request.parent.length > kWorkerLimit ? startWorker() : null;
    if (!helper) return layoutNested(request);
    const id = nextId++;
    const result = await new Promise<LayoutResult | null>((done) => {
        waiting.set(id, done);
        helper.postMessage({ id, request });
    });
    return result ?? layoutNested(request);
}

// Calls `show` with the layout. If ELK needs more than `patience` milliseconds, the fast layout is
// shown first and ELK's follows; a newer call makes both obsolete (`isCurrent`).
export async function layoutGraph(
    graph: Graph,
    visible: Visible,
    patience: number,
    isCurrent: () => boolean,
    show: (layout: Layout, last: boolean) => void,
): Promise<void> {
    const request = requestOf(graph, visible);
    const small = visible.boxes <= kElkLimit && visible.edges.length <= kElkEdgeLimit;
    if (!small) {
        const result = await fast(request);
        if (isCurrent()) show(layoutOf(visible, result, "fast"), true);
        return;
    }
    let done = false;
    const elk = layoutElk(request).then((result) => {
        done = true;
        if (!isCurrent()) return;
        show(
            result
                ? layoutOf(visible, result, "elk")
                : layoutOf(visible, layoutNested(request), "fast"),
            true,
        );
    });
    await Promise.race([elk, new Promise((next) => setTimeout(next, patience))]);
    if (!done && isCurrent()) show(layoutOf(visible, layoutNested(request), "fast"), false);
    await elk;
}
