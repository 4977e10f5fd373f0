// SPDX-License-Identifier: Apache-2.0
// The layouts between two layouts: boxes glide, members grow out of their group.

import type { Graph } from "./items";
import type { Box, Layout, Route } from "./layout";

const kLimit = 1500; // boxes; more do not move smoothly

export function canMorph(a: Layout, b: Layout): boolean {
    return a.boxes.length + b.boxes.length <= kLimit;
}

// The nearest ancestor that the other layout has, so that members appear out of it.
function origin(graph: Graph, layout: Layout, item: number): Box | undefined {
    for (let at = item; at >= 0; at = graph.items[at].parent) {
        const box = layout.at.get(at);
        if (box) return box;
    }
    return undefined;
}

export function morph(graph: Graph, a: Layout, b: Layout, t: number): Layout {
    const mix = (p: number, q: number): number => p + (q - p) * t;
    const boxes: Box[] = [];
    const at = new Map<number, Box>();
    for (const box of b.boxes) {
        const old = a.at.get(box.item);
        const from = old ?? origin(graph, a, box.item) ?? box;
        const start = old
            ? from
            : {
                  x: from.x + from.width / 2 - box.width / 8,
                  y: from.y + from.height / 2 - box.height / 8,
                  width: box.width / 4,
                  height: box.height / 4,
              };
        const now: Box = {
            item: box.item,
            open: box.open,
            x: mix(start.x, box.x),
            y: mix(start.y, box.y),
            width: mix(start.width, box.width),
            height: mix(start.height, box.height),
        };
        boxes.push(now);
        at.set(box.item, now);
    }
    const known = new Map(a.routes.map((r) => [r.edge.key, r.points]));
    const routes: Route[] = [];
    for (const route of b.routes) {
        const old = known.get(route.edge.key);
        if (old && old.length === route.points.length) {
            routes.push({ edge: route.edge, points: route.points.map((p, i) => mix(old[i], p)) });
        } else {
            const from = at.get(route.edge.from);
            const to = at.get(route.edge.to);
            if (!from || !to) continue;
            const points = Float32Array.from([
                from.x + from.width / 2,
                from.y + from.height,
                to.x + to.width / 2,
                to.y,
            ]);
            routes.push(t > 0.7 ? route : { edge: route.edge, points });
        }
    }
    return { boxes, at, routes, width: b.width, height: b.height, by: b.by };
}
