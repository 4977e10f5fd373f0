// SPDX-License-Identifier: Apache-2.0
// ELK's layered layout in a worker of its own. Its text (1.6 MB) waits in the page as data and is
// parsed when the first small graph needs it.

import ELK from "elkjs/lib/elk-api.js";
import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api";
import type { LayoutRequest, LayoutResult } from "./nested";
import { kSpacing } from "./nested";

const kPatience = 30000; // milliseconds; then the fast layout has to do

let elk: { layout(graph: ElkNode): Promise<ElkNode>; terminateWorker(): void } | null = null;
let broken = false;

function start(): typeof elk {
    if (elk || broken) return elk;
    const code = document.getElementById("lemma-elk")?.textContent;
    if (!code) {
        broken = true;
        return null;
    }
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    elk = new ELK({ workerFactory: () => new Worker(url) });
    return elk;
}

// Groups do not inherit the distances.
const kDistances: Record<string, string> = {
    "elk.layered.spacing.nodeNodeBetweenLayers": String(kSpacing.layer),
    "elk.layered.spacing.edgeNodeBetweenLayers": "12",
    "elk.spacing.nodeNode": String(kSpacing.node),
    "elk.spacing.edgeNode": "16",
    "elk.spacing.edgeEdge": "10",
};
const kOptions: Record<string, string> = {
    ...kDistances,
    "elk.algorithm": "layered",
    "elk.direction": "DOWN",
    "elk.hierarchyHandling": "INCLUDE_CHILDREN",
    "elk.edgeRouting": "POLYLINE",
    "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF",
    "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
    "elk.layered.mergeEdges": "false",
    "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
    "elk.json.edgeCoords": "ROOT",
    "elk.json.shapeCoords": "ROOT",
    "elk.padding": "[top=0,left=0,bottom=0,right=0]",
};

function toElk(request: LayoutRequest): ElkNode {
    const root: ElkNode = { id: "root", layoutOptions: kOptions, children: [], edges: [] };
    const nodes: ElkNode[] = [];
    for (let n = 0; n < request.parent.length; n++) {
        const node: ElkNode = { id: `n${n}`, width: request.width[n], height: request.height[n] };
        if (request.isOpen[n]) {
            node.children = [];
            node.layoutOptions = {
                ...kDistances,
                "elk.padding": `[top=${request.header + request.padding / 2},left=${request.padding},bottom=${request.padding},right=${request.padding}]`,
                "elk.nodeSize.constraints": "MINIMUM_SIZE",
                "elk.nodeSize.minimum": `(${request.width[n]}, ${request.height[n]})`,
            };
        }
        nodes.push(node);
        (request.parent[n] < 0 ? root : nodes[request.parent[n]]).children!.push(node);
    }
    root.edges = Array.from(request.from, (f, e): ElkExtendedEdge => ({
        id: `e${e}`,
        sources: [`n${f}`],
        targets: [`n${request.to[e]}`],
    }));
    return root;
}

// A step sideways between two vertical pieces becomes a slope, which is drawn as a curve.
export function soften(p: number[]): number[] {
    const out = p.slice();
    for (let i = 2; i + 3 < p.length - 2; i += 2) {
        if (Math.abs(p[i + 1] - p[i + 3]) > 0.5 || Math.abs(p[i] - p[i + 2]) < 0.5) continue;
        const room = Math.min(14, (p[i + 1] - p[i - 1]) / 2, (p[i + 5] - p[i + 3]) / 2);
        if (room <= 0) continue;
        out[i + 1] = p[i + 1] - room;
        out[i + 3] = p[i + 3] + room;
    }
    return out;
}

function fromElk(root: ElkNode, request: LayoutRequest): LayoutResult {
    const count = request.parent.length;
    const result: LayoutResult = {
        x: new Float32Array(count),
        y: new Float32Array(count),
        width: new Float32Array(count),
        height: new Float32Array(count),
        start: new Int32Array(request.from.length + 1),
        points: new Float32Array(0),
    };
    const paths: number[][] = Array.from({ length: request.from.length }, () => []);
    const visit = (node: ElkNode): void => {
        for (const edge of node.edges ?? []) {
            const section = edge.sections?.[0];
            if (!section) continue;
            const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
            paths[Number(edge.id.slice(1))] = soften(points.flatMap((p) => [p.x, p.y]));
        }
        for (const child of node.children ?? []) {
            const n = Number(child.id.slice(1));
            result.x[n] = child.x ?? 0;
            result.y[n] = child.y ?? 0;
            result.width[n] = child.width ?? 0;
            result.height[n] = child.height ?? 0;
            visit(child);
        }
    };
    visit(root);
    paths.forEach((p, e) => (result.start[e + 1] = result.start[e] + p.length / 2));
    result.points = Float32Array.from(paths.flat());
    return result;
}

// The layout, or nothing if ELK fails or takes too long.
export async function layoutElk(request: LayoutRequest): Promise<LayoutResult | null> {
    const engine = start();
    if (!engine) return null;
    let timer = 0;
    const patience = new Promise<null>(
        (done) => (timer = window.setTimeout(() => done(null), kPatience)),
    );
    try {
        const laid = await Promise.race([engine.layout(toElk(request)), patience]);
        if (laid) return fromElk(laid, request);
        engine.terminateWorker();
        elk = null;
        return null;
    } catch {
        return null;
    } finally {
        window.clearTimeout(timer);
    }
}
