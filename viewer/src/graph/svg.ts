// SPDX-License-Identifier: Apache-2.0
// The graph as it is open now, as an SVG text or a PNG picture.

import { clean } from "../text";
import { drawLayout, kSans, readable, type Marks } from "./draw";
import type { Graph } from "./items";
import type { Box, Layout } from "./layout";
import { fitText, kRowHeight, kRowSize, kTitleHeight, kTitleSize } from "./measure";
import type { Palette } from "./palette";
import { kHeader } from "./visible";

const kMargin = 20;
const kMostPixels = 64e6;
const kLongestSide = 16384;

// Texts of a model as XML: markup escaped, and only characters that XML knows.
function xml(text: string): string {
    return clean(text, 300)
        .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
        .replace(/[\ufffe\uffff]/g, "");
}

function path(p: Float32Array): string {
    const n = (v: number): string => v.toFixed(1);
    let out = `M${n(p[0])} ${n(p[1])}`;
    for (let i = 2; i < p.length; i += 2) {
        const middle = (p[i - 1] + p[i + 1]) / 2;
        out +=
            Math.abs(p[i] - p[i - 2]) < 0.5
                ? `L${n(p[i])} ${n(p[i + 1])}`
                : `C${n(p[i - 2])} ${n(middle)} ${n(p[i])} ${n(middle)} ${n(p[i])} ${n(p[i + 1])}`;
    }
    return out;
}

function boxSvg(graph: Graph, box: Box, palette: Palette, marks: Marks): string {
    const item = graph.items[box.item];
    const colours = palette.of(item.family);
    const port = item.kind === "input" || item.kind === "output";
    const frame = `x="${box.x.toFixed(1)}" y="${box.y.toFixed(1)}" width="${box.width.toFixed(1)}" height="${box.height.toFixed(1)}"`;
    if (box.open) {
        return (
            `<rect ${frame} rx="10" fill="${palette.group[Math.min(item.depth, palette.group.length - 1)]}" stroke="${palette.groupLine}"/>` +
            `<text x="${box.x + 12}" y="${box.y + kHeader / 2 + 4}" font-size="11.5" font-weight="600" fill="${palette.dim}">${xml(fitText(item.title, 11.5, box.width - 24))}</text>`
        );
    }
    const heat = marks.heat?.get(box.item);
    const ink = heat ? readable(heat, palette) : colours.ink;
    const middle = box.x + box.width / 2;
    const status = marks.status?.get(box.item);
    let out = `<rect ${frame} rx="${port ? box.height / 2 : 7}" fill="${heat ?? (port ? palette.ground : colours.fill)}" stroke="${status ? palette[status] : colours.line}"${status ? ' stroke-width="2.5"' : ""}/>`;
    const baseline = box.y + (item.rows.length ? kTitleHeight / 2 + 5 : box.height / 2 + 4.5);
    out += `<text x="${middle}" y="${baseline}" text-anchor="middle" font-size="${kTitleSize}" font-weight="600" fill="${ink}">${xml(fitText(item.title, kTitleSize, box.width - 16))}</text>`;
    item.rows.forEach((row, i) => {
        out += `<text x="${middle}" y="${box.y + kTitleHeight + i * kRowHeight + 9.5}" text-anchor="middle" font-size="${kRowSize}" fill="${ink}" opacity="0.82">${xml(fitText(row, kRowSize, box.width - 14))}</text>`;
    });
    return out;
}

export function toSvg(graph: Graph, layout: Layout, palette: Palette, marks: Marks): string {
    const width = layout.width + 2 * kMargin;
    const height = layout.height + 2 * kMargin;
    const groups = layout.boxes.filter((b) => b.open).map((b) => boxSvg(graph, b, palette, marks));
    const boxes = layout.boxes.filter((b) => !b.open).map((b) => boxSvg(graph, b, palette, marks));
    const edges = layout.routes.map(
        (r) => `<path d="${path(r.points)}" marker-end="url(#arrow)"/>`,
    );
    return (
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-kMargin} ${-kMargin} ${width.toFixed(0)} ${height.toFixed(0)}" width="${width.toFixed(0)}" height="${height.toFixed(0)}" font-family='${kSans}'>\n` +
        `<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto"><path d="M1 1L9 5L1 9" fill="none" stroke="${palette.edge}" stroke-width="1.6"/></marker></defs>\n` +
        `<rect x="${-kMargin}" y="${-kMargin}" width="100%" height="100%" fill="${palette.ground}"/>\n${groups.join("\n")}\n` +
        `<g fill="none" stroke="${palette.edge}" stroke-width="1.25">\n${edges.join("\n")}\n</g>\n${boxes.join("\n")}\n</svg>\n`
    );
}

// Twice the size of the plane, or less if the picture would be too large.
export function toPng(
    graph: Graph,
    layout: Layout,
    palette: Palette,
    marks: Marks,
): Promise<Blob | null> {
    const width = layout.width + 2 * kMargin;
    const height = layout.height + 2 * kMargin;
    const scale = Math.min(
        2,
        kLongestSide / width,
        kLongestSide / height,
        Math.sqrt(kMostPixels / (width * height)),
    );
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.floor(width * scale));
    canvas.height = Math.max(1, Math.floor(height * scale));
    const c = canvas.getContext("2d")!;
    c.fillStyle = palette.ground;
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.setTransform(scale, 0, 0, scale, kMargin * scale, kMargin * scale);
    const everything = {
        left: -kMargin,
        top: -kMargin,
        right: layout.width + kMargin,
        bottom: layout.height + kMargin,
        zoom: Math.max(scale, 0.2),
    };
    drawLayout(c, graph, layout, everything, palette, { ...marks, hovered: -1 });
    return new Promise((done) => canvas.toBlob(done, "image/png"));
}
