// SPDX-License-Identifier: Apache-2.0
// The mouse and touch on the canvas: drag and wheel move, Ctrl and wheel or a pinch zoom, a click
// selects, a double click or a click on the arrow opens and closes a group.

import { tipOf } from "./draw";
import type { GraphView } from "./view";
import { kHeader } from "./visible";

function onChevron(view: GraphView, index: number, sx: number, sy: number): boolean {
    const box = view.layout?.at.get(index);
    if (!box || !view.graph.items[index].children.length) return false;
    const [x, y] = view.camera.toPlane(sx, sy);
    return x - box.x < 24 && y - box.y < kHeader + 2 && view.camera.pose.zoom > 0.25;
}

export function watchPointer(view: GraphView): void {
    const canvas = view.canvas;
    const pointers = new Map<number, { x: number; y: number }>();
    let moved = 0;
    const at = (event: MouseEvent): { x: number; y: number } => {
        const rect = canvas.getBoundingClientRect();
        return { x: event.clientX - rect.left, y: event.clientY - rect.top };
    };

    canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        canvas.setPointerCapture(event.pointerId);
        pointers.set(event.pointerId, at(event));
        moved = 0;
        view.hooks.tip("", 0, 0);
    });
    canvas.addEventListener("pointermove", (event) => {
        const now = at(event);
        const last = pointers.get(event.pointerId);
        if (!last) return hover(now);
        const others = [...pointers.entries()].filter(([id]) => id !== event.pointerId);
        if (others.length) {
            const other = others[0][1];
            const before = Math.hypot(last.x - other.x, last.y - other.y);
            const after = Math.hypot(now.x - other.x, now.y - other.y);
            if (before > 0)
                view.camera.zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, after / before);
        }
        moved += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
        if (moved > 4) {
            view.camera.pan((now.x - last.x) / pointers.size, (now.y - last.y) / pointers.size);
            canvas.style.cursor = "grabbing";
            view.frame();
        }
        pointers.set(event.pointerId, now);
    });
    const release = (event: PointerEvent): void => {
        if (!pointers.delete(event.pointerId)) return;
        canvas.style.cursor = "";
        if (event.type === "pointerup" && moved <= 4) click(at(event));
        else view.hooks.changed();
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => {
        view.hooks.tip("", 0, 0);
        if (view.marks.hovered >= 0) view.mark({ hovered: -1 });
    });
    canvas.addEventListener("dblclick", (event) => {
        const p = at(event);
        const index = view.itemAt(p.x, p.y);
        if (index >= 0 && !onChevron(view, index, p.x, p.y)) view.toggle(index);
    });
    canvas.addEventListener(
        "wheel",
        (event) => {
            event.preventDefault();
            const p = at(event);
            const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 300 : 1;
            if (event.ctrlKey || event.metaKey)
                view.camera.zoomAt(
                    p.x,
                    p.y,
                    Math.exp(-Math.max(-80, Math.min(80, event.deltaY * unit)) * 0.0075),
                );
            else if (event.shiftKey && event.deltaX === 0) view.camera.pan(-event.deltaY * unit, 0);
            else view.camera.pan(-event.deltaX * unit, -event.deltaY * unit);
            view.frame();
        },
        { passive: false },
    );

    function hover(p: { x: number; y: number }): void {
        const index = view.itemAt(p.x, p.y);
        if (index !== view.marks.hovered) view.mark({ hovered: index });
        const box = index >= 0 ? view.layout?.at.get(index) : undefined;
        const tensor = index < 0 || box?.open ? view.tensorAt(p.x, p.y) : "";
        canvas.style.cursor = index >= 0 || tensor ? "pointer" : "";
        if (tensor) view.hooks.tip(view.tipOfTensor(tensor), p.x, p.y);
        else
            view.hooks.tip(
                index >= 0 && !box?.open && view.camera.pose.zoom < 0.9
                    ? tipOf(view.graph, index)
                    : "",
                p.x,
                p.y,
            );
    }
    function click(p: { x: number; y: number }): void {
        const index = view.itemAt(p.x, p.y);
        const box = index >= 0 ? view.layout?.at.get(index) : undefined;
        if (index >= 0 && onChevron(view, index, p.x, p.y)) return view.toggle(index);
        if (index < 0 || box?.open) {
            const tensor = view.tensorAt(p.x, p.y);
            if (tensor) return view.hooks.tensor(tensor);
        }
        view.hooks.selected(index);
    }
}
