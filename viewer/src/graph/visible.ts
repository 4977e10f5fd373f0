// SPDX-License-Identifier: Apache-2.0
// What a set of open groups shows: the visible items, with sizes, and the edges between them.

import type { TensorInfo } from "../document";
import type { Graph, Item } from "./items";
import { sizeOf } from "./measure";

export interface VisibleEdge {
    key: string;
    from: number; // items
    to: number;
    tensors: TensorInfo[];
}

export interface Visible {
    shown: number[]; // items in pre-order: a group stands before its members
    isOpen: Uint8Array; // by item
    width: Float32Array; // by item; of open groups, their least width
    height: Float32Array;
    edges: VisibleEdge[];
    boxes: number; // how many shown items are not open groups
}

export const kHeader = 26; // the title of an open group
export const kPadding = 14;

function representatives(
    graph: Graph,
    open: Set<number>,
): { shown: number[]; shownAs: Int32Array; isOpen: Uint8Array } {
    const shown: number[] = [];
    const isOpen = new Uint8Array(graph.items.length);
    const shownAs = new Int32Array(graph.items.length).fill(-1);
    // Parents have smaller indices than their members.
    for (const item of graph.items) {
        const parent = item.parent;
        if (parent < 0 || (isOpen[parent] && shownAs[parent] === parent)) {
            shownAs[item.index] = item.index;
            shown.push(item.index);
            isOpen[item.index] = open.has(item.index) && item.children.length > 0 ? 1 : 0;
        } else {
            shownAs[item.index] = shownAs[parent];
        }
    }
    return { shown, shownAs, isOpen };
}

export function isAncestor(items: Item[], group: number, index: number): boolean {
    for (let at = items[index].parent; at >= 0; at = items[at].parent)
        if (at === group) return true;
    return false;
}

export function visibleOf(graph: Graph, open: Set<number>): Visible {
    const { shown, shownAs, isOpen } = representatives(graph, open);
    const width = new Float32Array(graph.items.length);
    const height = new Float32Array(graph.items.length);
    let boxes = 0;
    for (const index of shown) {
        const size = sizeOf(graph.items[index]);
        width[index] = size.width;
        height[index] = size.height;
        if (!isOpen[index]) boxes++;
    }
    const edges = new Map<number, VisibleEdge>();
    const count = graph.items.length;
    for (let e = 0; e < graph.edges.from.length; e++) {
        const from = shownAs[graph.edges.from[e]];
        const to = shownAs[graph.edges.to[e]];
        if (from === to) continue;
        if (
            (isOpen[from] && isAncestor(graph.items, from, to)) ||
            (isOpen[to] && isAncestor(graph.items, to, from))
        )
            continue;
        const key = from * count + to;
        const known = edges.get(key);
        if (known) {
            if (!known.tensors.includes(graph.edges.tensor[e]) && known.tensors.length < 50)
                known.tensors.push(graph.edges.tensor[e]);
        } else {
            edges.set(key, { key: `${from}>${to}`, from, to, tensors: [graph.edges.tensor[e]] });
        }
    }
    return { shown, isOpen, width, height, edges: [...edges.values()], boxes };
}
