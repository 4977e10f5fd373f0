// SPDX-License-Identifier: Apache-2.0
// One graph on one canvas: open groups, the camera, the selection, and the frames that show them.
// pointer.ts turns the mouse into calls of this class, keys.ts the keyboard.

import { Camera, ease, type Pose } from "./camera";
import { drawLayout, kNoMarks, type Marks, type Window } from "./draw";
import { boxAt, routeAt } from "./hit";
import { openAtStart, pathOf, type Graph } from "./items";
import { layoutGraph, type Layout } from "./layout";
import { canMorph, morph } from "./morph";
import { kLight, type Palette } from "./palette";
import { visibleOf } from "./visible";
import { clean, shapeText } from "../text";

const kMorphTime = 260;

export interface ViewHooks {
    selected(index: number): void; // -1: nothing
    tensor(name: string): void;
    changed(): void; // open groups or the camera: the deep link is old
    tip(text: string, x: number, y: number): void;
}

export class GraphView {
    readonly camera = new Camera();
    readonly open: Set<number>;
    marks: Marks = { ...kNoMarks };
    palette: Palette = kLight;
    layout: Layout | null = null;
    ready: Promise<void> = Promise.resolve();
    private readonly context: CanvasRenderingContext2D;
    private shape: Layout | null = null; // what is on the screen, a step between two layouts
    private morphFrom: Layout | null = null;
    private morphSince = 0;
    private turn = 0; // the newest layout wins
    private dirty = false;
    private anchor: { item: number; sx: number; sy: number } | null = null;
    private fitWhenReady: "start" | "all" | Pose | null = "start";
    private onLaid: (() => void)[] = [];
    calm = false; // prefers-reduced-motion

    constructor(
        readonly canvas: HTMLCanvasElement,
        readonly graph: Graph,
        readonly hooks: ViewHooks,
    ) {
        this.context = canvas.getContext("2d")!;
        this.open = openAtStart(graph);
        this.calm = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
        new ResizeObserver(() => this.resize()).observe(canvas);
        this.resize();
    }

    resize(): void {
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        const width = Math.max(1, this.canvas.clientWidth);
        const height = Math.max(1, this.canvas.clientHeight);
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        this.camera.width = width;
        this.camera.height = height;
        this.frame();
    }

    // Lays the open groups out anew. The toggled group stays where it is on the screen.
    relayout(anchor = -1, patience = 450): Promise<void> {
        const turn = ++this.turn;
        const box = anchor >= 0 ? this.layout?.at.get(anchor) : undefined;
        this.anchor = box
            ? {
                  item: anchor,
                  sx: this.camera.toScreenX(box.x + box.width / 2),
                  sy: this.camera.toScreenY(box.y),
              }
            : null;
        const visible = visibleOf(this.graph, this.open);
        this.ready = layoutGraph(
            this.graph,
            visible,
            patience,
            () => turn === this.turn,
            (layout) => this.show(layout),
        );
        return this.ready;
    }

    private show(layout: Layout): void {
        const before = this.shape;
        this.layout = layout;
        if (before && !this.calm && canMorph(before, layout)) {
            this.morphFrom = before;
            this.morphSince = performance.now();
        } else {
            this.morphFrom = null;
            this.shape = layout;
        }
        this.place();
        this.canvas.dataset.layout = layout.by;
        this.canvas.dataset.boxes = String(layout.boxes.length);
        for (const next of this.onLaid.splice(0)) next();
        this.frame();
    }

    private place(): void {
        const layout = this.layout!;
        if (this.fitWhenReady) {
            const wanted = this.fitWhenReady;
            if (typeof wanted === "object") this.camera.jump(wanted);
            else this.camera.jump(wanted === "start" ? this.startPose() : this.fitPose());
            this.fitWhenReady = null;
        } else if (this.anchor) {
            const box = layout.at.get(this.anchor.item);
            if (!box) return;
            const zoom = this.camera.pose.zoom;
            const x = box.x + box.width / 2 - (this.anchor.sx - this.camera.width / 2) / zoom;
            const y = box.y - (this.anchor.sy - this.camera.height / 2) / zoom;
            if (this.morphFrom) this.camera.glide({ x, y, zoom }, performance.now());
            else this.camera.jump({ x, y, zoom });
        }
    }

    whenLaid(next: () => void): void {
        this.onLaid.push(next);
    }
    startAt(pose: Pose): void {
        this.fitWhenReady = pose;
    }

    fitPose(): Pose {
        return this.camera.poseFor(0, 0, this.layout?.width ?? 1, this.layout?.height ?? 1);
    }
    // A graph that would be too small to read begins at its top.
    private startPose(): Pose {
        const pose = this.fitPose();
        const least = 0.55;
        if (pose.zoom >= least || !this.layout) return pose;
        const zoom = Math.max(least, Math.min(0.8, (this.camera.width - 80) / this.layout.width));
        const first = this.layout.boxes[0];
        const tall = this.layout.height * zoom > this.camera.height;
        const wide = this.layout.width * zoom > this.camera.width;
        return {
            x: wide && first ? first.x + first.width / 2 : this.layout.width / 2,
            y: tall ? this.camera.height / 2 / zoom - 40 / zoom : this.layout.height / 2,
            zoom,
        };
    }
    fit(): void {
        this.camera.glide(this.fitPose(), performance.now());
        this.frame();
    }
    zoomBy(factor: number): void {
        const goal = this.camera.goal;
        this.camera.glide({ ...goal, zoom: goal.zoom * factor }, performance.now());
        this.frame();
    }

    toggle(index: number): void {
        if (!this.graph.items[index]?.children.length) return;
        if (this.open.has(index)) this.open.delete(index);
        else this.openGroup(index);
        this.hooks.changed();
        void this.relayout(index);
    }
    // A control operation opens with its bodies: their frames alone would say little.
    private openGroup(index: number): void {
        this.open.add(index);
        for (const child of this.graph.items[index].children) {
            if (this.graph.items[child].kind === "body") this.open.add(child);
        }
    }
    setOpen(groups: Iterable<number>): void {
        this.open.clear();
        for (const each of groups) this.open.add(each);
    }
    // Opens every group of a kind, or closes all.
    openAll(open: boolean): void {
        this.open.clear();
        if (open)
            for (const item of this.graph.items)
                if (item.children.length && item.kind !== "op") this.open.add(item.index);
        if (open)
            for (const item of this.graph.items)
                if (item.op?.kind === "control") this.open.add(item.index);
        this.fitWhenReady = "all";
        this.hooks.changed();
        void this.relayout();
    }

    // Makes an item visible by opening the groups around it, and brings it to the middle.
    reveal(index: number, centre = true): void {
        const groups = pathOf(this.graph, index).slice(1);
        const closed = groups.filter((g) => !this.open.has(g));
        const go = (): void => {
            if (centre) this.centre(index);
        };
        if (closed.length === 0 && this.layout) return go();
        for (const g of closed) this.open.add(g);
        this.whenLaid(go);
        void this.relayout();
    }
    centre(index: number): void {
        const box = this.layout?.at.get(index);
        if (!box) return;
        const { width, height } = this.camera;
        const zoom = Math.min(Math.max(this.camera.goal.zoom, 0.75), 1.4);
        const sx = this.camera.toScreenX(box.x + box.width / 2);
        const sy = this.camera.toScreenY(box.y + box.height / 2);
        const inside =
            sx > width * 0.12 && sx < width * 0.88 && sy > height * 0.12 && sy < height * 0.88;
        if (inside && this.camera.goal.zoom >= 0.5) return;
        this.camera.glide(
            { x: box.x + box.width / 2, y: box.y + Math.min(box.height, height / zoom) / 2, zoom },
            performance.now(),
        );
        this.frame();
    }

    mark(marks: Partial<Marks>): void {
        Object.assign(this.marks, marks);
        this.frame();
    }

    // The visible neighbour of the selection in a direction: along an edge, or beside it.
    neighbour(direction: "up" | "down" | "left" | "right"): number {
        const layout = this.layout;
        const here = layout?.at.get(this.marks.selected);
        if (!layout || !here) return layout?.boxes.find((b) => !b.open)?.item ?? -1;
        const middle = (b: { x: number; width: number }): number => b.x + b.width / 2;
        let best = -1;
        let distance = Infinity;
        const consider = (item: number, cost: number): void => {
            if (cost < distance) {
                distance = cost;
                best = item;
            }
        };
        if (direction === "up" || direction === "down") {
            for (const { edge } of layout.routes) {
                const [near, other] =
                    direction === "down" ? [edge.from, edge.to] : [edge.to, edge.from];
                if (near !== here.item) continue;
                const box = layout.at.get(other)!;
                consider(
                    other,
                    Math.abs(middle(box) - middle(here)) + Math.abs(box.y - here.y) * 0.1,
                );
            }
            return best;
        }
        for (const box of layout.boxes) {
            if (box.open || box.item === here.item) continue;
            const dx = middle(box) - middle(here);
            if (direction === "left" ? dx >= -1 : dx <= 1) continue;
            const dy = Math.abs(box.y + box.height / 2 - here.y - here.height / 2);
            if (dy < 200) consider(box.item, Math.abs(dx) + dy * 4);
        }
        return best;
    }

    itemAt(sx: number, sy: number): number {
        const [x, y] = this.camera.toPlane(sx, sy);
        return this.layout ? boxAt(this.layout, x, y) : -1;
    }
    tensorAt(sx: number, sy: number): string {
        const [x, y] = this.camera.toPlane(sx, sy);
        return this.layout
            ? (routeAt(this.layout, x, y, 5 / this.camera.pose.zoom)?.edge.tensors[0].name ?? "")
            : "";
    }

    tipOfTensor(name: string): string {
        const info = this.graph.model.tensors.get(name);
        return info ? `${clean(name, 80)}: ${clean(info.dtype, 10)} ${shapeText(info.shape)}` : "";
    }

    window(): Window {
        const [left, top] = this.camera.toPlane(0, 0);
        const [right, bottom] = this.camera.toPlane(this.camera.width, this.camera.height);
        return { left, top, right, bottom, zoom: this.camera.pose.zoom };
    }

    // Asks for a frame; frames are drawn only when something changed.
    frame(): void {
        if (this.dirty) return;
        this.dirty = true;
        requestAnimationFrame((now) => {
            this.dirty = false;
            this.draw(Math.max(now, performance.now()));
        });
    }

    private draw(now: number): void {
        let moving = this.camera.step(now);
        if (this.layout && this.morphFrom) {
            const t = Math.min(1, (now - this.morphSince) / kMorphTime);
            this.shape =
                t >= 1 ? this.layout : morph(this.graph, this.morphFrom, this.layout, ease(t));
            if (t >= 1) this.morphFrom = null;
            else moving = true;
        }
        const c = this.context;
        const ratio = this.canvas.width / this.camera.width;
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.fillStyle = this.palette.ground;
        c.fillRect(0, 0, this.camera.width, this.camera.height);
        if (this.shape) {
            const { x, y, zoom } = this.camera.pose;
            c.setTransform(
                ratio * zoom,
                0,
                0,
                ratio * zoom,
                ratio * (this.camera.width / 2 - x * zoom),
                ratio * (this.camera.height / 2 - y * zoom),
            );
            drawLayout(c, this.graph, this.shape, this.window(), this.palette, this.marks);
            if (!this.canvas.dataset.drawn) {
                this.canvas.dataset.drawn = "1";
                performance.mark("lemma-first-picture");
            }
        }
        if (moving) this.frame();
        else this.hooks.changed();
    }
}
