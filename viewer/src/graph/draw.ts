// SPDX-License-Identifier: Apache-2.0
// Draws a layout on a canvas: only what is on the screen, and only as much of it as can be seen at
// the zoom. The same function draws the picture of an export.

import { clean, shapeText } from "../text";
import type { Graph } from "./items";
import type { Box, Layout, Route } from "./layout";
import { fitText, kRowHeight, kRowSize, kTitleHeight, kTitleSize, textWidth } from "./measure";
import type { Palette } from "./palette";
import { kHeader } from "./visible";

export const kSans =
    '"Inter", "Segoe UI", system-ui, -apple-system, "Helvetica Neue", "DejaVu Sans", Arial, sans-serif';

// What is drawn besides the graph itself; all by item.
export interface Marks {
    selected: number; // -1: none
    hovered: number;
    tensor: string; // the selected tensor, or ""
    heat: Map<number, string> | null; // fill colours of an overlay
    heatText: Map<number, string> | null;
    problems: Map<number, "error" | "warning">;
    status: Map<number, "added" | "removed" | "changed"> | null; // of a comparison
}

export const kNoMarks: Marks = {
    selected: -1,
    hovered: -1,
    tensor: "",
    heat: null,
    heatText: null,
    problems: new Map(),
    status: null,
};

// The part of the plane to draw, the scale, and how the plane's origin lies on the canvas.
export interface Window {
    left: number;
    top: number;
    right: number;
    bottom: number;
    zoom: number;
}

type Context = CanvasRenderingContext2D;

const kRowsZoom = 0.55; // below: titles only
const kTextZoom = 0.28; // below: no text
const kCurveZoom = 0.12; // below: straight edges
const kLabelZoom = 0.8; // above: shapes on edges

export function roundRect(c: Context, x: number, y: number, w: number, h: number, r: number): void {
    c.beginPath();
    c.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
}

// Curves that leave and arrive vertically.
function traceRoute(c: Context, p: Float32Array, straight: boolean): void {
    c.moveTo(p[0], p[1]);
    for (let i = 2; i < p.length; i += 2) {
        if (straight || Math.abs(p[i] - p[i - 2]) < 0.5) c.lineTo(p[i], p[i + 1]);
        else {
            const middle = (p[i - 1] + p[i + 1]) / 2;
            c.bezierCurveTo(p[i - 2], middle, p[i], middle, p[i], p[i + 1]);
        }
    }
}

function isOutside(p: Float32Array, view: Window): boolean {
    let left = Infinity,
        right = -Infinity,
        top = Infinity,
        bottom = -Infinity;
    for (let i = 0; i < p.length; i += 2) {
        if (p[i] < left) left = p[i];
        if (p[i] > right) right = p[i];
        if (p[i + 1] < top) top = p[i + 1];
        if (p[i + 1] > bottom) bottom = p[i + 1];
    }
    return right < view.left || left > view.right || bottom < view.top || top > view.bottom;
}

function arrow(c: Context, p: Float32Array): void {
    const x = p[p.length - 2];
    const y = p[p.length - 1];
    c.moveTo(x - 3.4, y - 6.5);
    c.lineTo(x, y);
    c.lineTo(x + 3.4, y - 6.5);
}

const kMostFarEdges = 5000; // far out, more lines only make the picture darker

function drawEdges(c: Context, layout: Layout, view: Window, palette: Palette, marks: Marks): void {
    const far = view.zoom < kCurveZoom;
    const strong: Route[] = [];
    const near: Route[] = [];
    c.lineWidth = far ? Math.min(1.2 / view.zoom, 8) * 0.8 : 1.25;
    c.strokeStyle = palette.edge;
    c.globalAlpha = far ? 0.55 : 1;
    c.beginPath();
    const step =
        far && layout.routes.length > kMostFarEdges
            ? Math.ceil(layout.routes.length / kMostFarEdges)
            : 1;
    let n = 0;
    for (const route of layout.routes) {
        const p = route.points;
        if (isOutside(p, view)) continue;
        const e = route.edge;
        if (isStrong(e, marks)) {
            strong.push(route);
            continue;
        }
        // Far out, an edge of a few pixels is not seen.
        if (far) {
            const length = Math.abs(p[p.length - 2] - p[0]) + Math.abs(p[p.length - 1] - p[1]);
            if (length * view.zoom < 3 || (step > 1 && length * view.zoom < 60 && n++ % step !== 0))
                continue;
        }
        traceRoute(c, p, far);
        if (!far) near.push(route);
    }
    c.stroke();
    if (view.zoom > kTextZoom) {
        c.beginPath();
        for (const route of near) arrow(c, route.points);
        c.stroke();
    }
    c.globalAlpha = 1;
    if (strong.length) {
        c.strokeStyle = palette.strong;
        c.lineWidth = Math.max(2, 1.4 / view.zoom);
        c.beginPath();
        for (const route of strong) {
            traceRoute(c, route.points, far);
            if (view.zoom > kTextZoom) arrow(c, route.points);
        }
        c.stroke();
    }
    if (view.zoom >= kLabelZoom) drawLabels(c, [...near, ...strong], view, palette);
}

function isStrong(e: Route["edge"], marks: Marks): boolean {
    if (marks.tensor !== "") return e.tensors.some((t) => t.name === marks.tensor);
    return marks.selected >= 0 && (e.from === marks.selected || e.to === marks.selected);
}

// A shape stands once below the box that makes the tensor, however many read it.
function drawLabels(c: Context, routes: Route[], view: Window, palette: Palette): void {
    c.font = `9.5px ${kSans}`;
    c.textAlign = "left";
    c.textBaseline = "middle";
    const used = new Set<string>();
    for (const { edge, points: p } of routes) {
        const x = p[0] + 6;
        const y = p[1] + 10;
        const slot = `${edge.from} ${edge.tensors[0].name}`;
        if (used.has(slot) || y < view.top - 10 || y > view.bottom + 10) continue;
        used.add(slot);
        const text =
            shapeText(edge.tensors[0].shape) +
            (edge.tensors.length > 1 ? ` +${edge.tensors.length - 1}` : "");
        c.lineWidth = 3;
        c.strokeStyle = palette.ground;
        c.globalAlpha = 0.7;
        c.strokeText(text, x, y);
        c.globalAlpha = 1;
        c.fillStyle = palette.dim;
        c.fillText(text, x, y);
    }
}

function drawGroup(
    c: Context,
    graph: Graph,
    box: Box,
    view: Window,
    palette: Palette,
    marks: Marks,
): void {
    const item = graph.items[box.item];
    const control = item.family === "control";
    roundRect(c, box.x, box.y, box.width, box.height, 10);
    c.fillStyle = palette.group[Math.min(item.depth, palette.group.length - 1)];
    c.fill();
    c.lineWidth = 1;
    c.strokeStyle = control ? palette.of("control").line : palette.groupLine;
    c.setLineDash(item.kind === "body" ? [5, 4] : []);
    c.stroke();
    c.setLineDash([]);
    outline(c, box, view, palette, marks, 10);
}

// Above the edges, on a patch of the group's colour, so that no line runs through the words.
function drawGroupTitle(c: Context, graph: Graph, box: Box, palette: Palette): void {
    const item = graph.items[box.item];
    const title = fitText(item.title, 11.5, box.width - 36);
    c.fillStyle = palette.group[Math.min(item.depth, palette.group.length - 1)];
    c.fillRect(
        box.x + 6,
        box.y + 5,
        Math.min(box.width - 14, textWidth(title, 11.5) * 1.12 + 22),
        kHeader - 9,
    );
    c.textBaseline = "middle";
    c.textAlign = "left";
    c.font = `600 ${11.5}px ${kSans}`;
    c.fillStyle = item.kind === "op" ? palette.of(item.family).ink : palette.dim;
    chevron(c, box.x + 13, box.y + kHeader / 2, true);
    c.fillText(title, box.x + 23, box.y + kHeader / 2 + 0.5);
}

function chevron(c: Context, x: number, y: number, open: boolean): void {
    c.save();
    c.strokeStyle = c.fillStyle as string;
    c.lineWidth = 1.5;
    c.beginPath();
    if (open) {
        c.moveTo(x - 3.5, y - 1.8);
        c.lineTo(x, y + 1.8);
        c.lineTo(x + 3.5, y - 1.8);
    } else {
        c.moveTo(x - 1.8, y - 3.5);
        c.lineTo(x + 1.8, y);
        c.lineTo(x - 1.8, y + 3.5);
    }
    c.stroke();
    c.restore();
}

function outline(
    c: Context,
    box: Box,
    view: Window,
    palette: Palette,
    marks: Marks,
    radius: number,
): void {
    const status = marks.status?.get(box.item);
    const selected = box.item === marks.selected;
    if (!selected && !status && box.item !== marks.hovered) return;
    const width = Math.max(selected ? 2.4 : status ? 2 : 1.4, 1.6 / view.zoom);
    roundRect(
        c,
        box.x - width / 2,
        box.y - width / 2,
        box.width + width,
        box.height + width,
        radius + width / 2,
    );
    c.lineWidth = width;
    c.strokeStyle = selected ? palette.accent : status ? palette[status] : palette.dim;
    c.stroke();
    if (selected && view.zoom > 0.2) {
        c.globalAlpha = 0.22;
        c.lineWidth = 7;
        roundRect(c, box.x - 5, box.y - 5, box.width + 10, box.height + 10, radius + 5);
        c.stroke();
        c.globalAlpha = 1;
    }
}

function drawBox(
    c: Context,
    graph: Graph,
    box: Box,
    view: Window,
    palette: Palette,
    marks: Marks,
): void {
    const item = graph.items[box.item];
    const colours = palette.of(item.family);
    const heat = marks.heat ? marks.heat.get(box.item) : undefined;
    const isPort = item.kind === "input" || item.kind === "output";
    const radius = isPort ? box.height / 2 : 7;
    if (item.children.length && item.kind !== "op") stack(c, box, colours, radius);
    roundRect(c, box.x, box.y, box.width, box.height, radius);
    // Where no text can be read, the colours have to be stronger.
    const plain = view.zoom < kTextZoom ? colours.line : isPort ? palette.ground : colours.fill;
    c.fillStyle = marks.heat ? (heat ?? palette.ground) : plain;
    c.fill();
    c.lineWidth = 1.1;
    c.strokeStyle = colours.line;
    c.stroke();
    outline(c, box, view, palette, marks, radius);
    if (view.zoom >= kTextZoom)
        drawTexts(c, graph, box, view, heat ? readable(heat, palette) : colours.ink, marks);
    const problem = marks.problems.get(box.item);
    if (problem) marker(c, box, palette[problem], view);
}

// A closed scope looks like a pile of boxes.
function stack(
    c: Context,
    box: Box,
    colours: { fill: string; line: string },
    radius: number,
): void {
    c.lineWidth = 1;
    c.strokeStyle = colours.line;
    c.fillStyle = colours.fill;
    for (const d of [5, 2.5]) {
        roundRect(c, box.x + d, box.y + d, box.width - 2 * d, box.height, radius);
        c.fill();
        c.stroke();
    }
}

function drawTexts(
    c: Context,
    graph: Graph,
    box: Box,
    view: Window,
    ink: string,
    marks: Marks,
): void {
    const item = graph.items[box.item];
    const group = item.children.length > 0;
    c.textBaseline = "middle";
    c.fillStyle = ink;
    c.font = `600 ${kTitleSize}px ${kSans}`;
    const rows = item.rows.length > 0 && view.zoom >= kRowsZoom;
    const middle = box.y + (rows ? kTitleHeight / 2 + 1 : box.height / 2 + 0.5);
    if (group) chevron(c, box.x + 13, middle, false);
    c.textAlign = group ? "left" : "center";
    c.fillText(
        fitText(item.title, kTitleSize, box.width - (group ? 32 : 16)),
        group ? box.x + 23 : box.x + box.width / 2,
        middle,
    );
    if (!rows) return;
    c.font = `${kRowSize}px ${kSans}`;
    c.globalAlpha = 0.82;
    const label = marks.heatText?.get(box.item);
    const texts = label !== undefined ? [label] : item.rows;
    c.textAlign = group ? "left" : "center";
    texts.forEach((row, i) => {
        c.fillText(
            fitText(row, kRowSize, box.width - 14),
            group ? box.x + 11 : box.x + box.width / 2,
            box.y + kTitleHeight + i * kRowHeight + kRowHeight / 2 - 1,
        );
    });
    c.globalAlpha = 1;
}

function marker(c: Context, box: Box, colour: string, view: Window): void {
    const r = Math.max(6, 4 / view.zoom);
    c.beginPath();
    c.arc(box.x + box.width - 2, box.y + 2, r, 0, 2 * Math.PI);
    c.fillStyle = colour;
    c.fill();
    if (view.zoom < kTextZoom) return;
    c.fillStyle = "#fff";
    c.font = `700 9px ${kSans}`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText("!", box.x + box.width - 2, box.y + 2.5);
}

// Black or white, whichever can be read on an `rgb(…)` colour.
export function readable(colour: string, palette: Palette): string {
    const [r, g, b] = (colour.match(/\d+(\.\d+)?/g) ?? []).map(Number);
    if (b === undefined) return palette.ink;
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#1b1f27" : "#f7f8fa";
}

// Far out a box is a spot of its colour; spots of one colour are filled together.
function drawSpots(
    c: Context,
    graph: Graph,
    boxes: Box[],
    view: Window,
    palette: Palette,
    marks: Marks,
): void {
    const byColour = new Map<string, Box[]>();
    for (const box of boxes) {
        const item = graph.items[box.item];
        const colour = marks.heat
            ? (marks.heat.get(box.item) ?? palette.groupLine)
            : palette.of(item.family).line;
        const same = byColour.get(colour);
        if (same) same.push(box);
        else byColour.set(colour, [box]);
    }
    const least = 1.2 / view.zoom;
    for (const [colour, same] of byColour) {
        c.fillStyle = colour;
        for (const b of same)
            c.fillRect(b.x, b.y, Math.max(b.width, least), Math.max(b.height, least));
    }
    for (const box of boxes) {
        outline(c, box, view, palette, marks, 7);
        const problem = marks.problems.get(box.item);
        if (problem) marker(c, box, palette[problem], view);
    }
}

// Draws in plane coordinates: the caller has set the transformation.
export function drawLayout(
    c: Context,
    graph: Graph,
    layout: Layout,
    view: Window,
    palette: Palette,
    marks: Marks,
): void {
    const boxes: Box[] = [];
    const groups: Box[] = [];
    const far = view.zoom < kCurveZoom;
    for (const box of layout.boxes) {
        if (
            box.x > view.right ||
            box.x + box.width < view.left ||
            box.y > view.bottom ||
            box.y + box.height < view.top
        )
            continue;
        (box.open ? groups : boxes).push(box);
        if (box.open) drawGroup(c, graph, box, view, palette, marks);
    }
    drawEdges(c, layout, view, palette, marks);
    if (view.zoom >= kTextZoom * 0.6)
        for (const box of groups) drawGroupTitle(c, graph, box, palette);
    if (far) drawSpots(c, graph, boxes, view, palette, marks);
    else for (const box of boxes) drawBox(c, graph, box, view, palette, marks);
}

export function tipOf(graph: Graph, index: number): string {
    const item = graph.items[index];
    const op = item.op;
    if (item.kind === "op" && op)
        return `${item.title} — ${clean(op.operation, 80)}${op.label ? ` · ${clean(op.label, 80)}` : ""}`;
    return `${item.title} (${item.kind})`;
}
