// SPDX-License-Identifier: Apache-2.0
// What lies under a point of the plane.

import type { Layout, Route } from "./layout";

// The innermost box: members stand behind their groups in the list.
export function boxAt(layout: Layout, x: number, y: number): number {
    for (let i = layout.boxes.length - 1; i >= 0; i--) {
        const b = layout.boxes[i];
        if (x >= b.x && x <= b.x + b.width && y >= b.y && y <= b.y + b.height) return b.item;
    }
    return -1;
}

function distance(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
    const dx = bx - ax;
    const dy = by - ay;
    const length = dx * dx + dy * dy;
    const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length));
    return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

// The nearest edge within `reach`. A curve is followed in eight steps.
export function routeAt(layout: Layout, x: number, y: number, reach: number): Route | null {
    let best: Route | null = null;
    let least = reach;
    for (const route of layout.routes) {
        const p = route.points;
        for (let i = 2; i < p.length; i += 2) {
            const [ax, ay, bx, by] = [p[i - 2], p[i - 1], p[i], p[i + 1]];
            if (
                x < Math.min(ax, bx) - reach ||
                x > Math.max(ax, bx) + reach ||
                y < Math.min(ay, by) - reach ||
                y > Math.max(ay, by) + reach
            )
                continue;
            let lastX = ax;
            let lastY = ay;
            for (let s = 1; s <= 8; s++) {
                const t = s / 8;
                const u = 1 - t;
                const curve = 3 * u * t * t + t * t * t; // the share of the way sideways
                const nextX = ax + (bx - ax) * curve;
                const nextY = u * u * u * ay + 3 * u * t * ((ay + by) / 2) + t * t * t * by;
                const d = distance(x, y, lastX, lastY, nextX, nextY);
                if (d < least) {
                    least = d;
                    best = route;
                }
                lastX = nextX;
                lastY = nextY;
            }
        }
    }
    return best;
}
