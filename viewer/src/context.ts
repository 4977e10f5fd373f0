// SPDX-License-Identifier: Apache-2.0
// What the panels may ask of the page.

import type { Api } from "./api";
import type { ViewDocument, TensorData } from "./document";
import type { Graph } from "./graph/items";
import type { Heat, Measured } from "./overlays/overlays";

export interface Selection {
    side: number;
    item: number; // -1: none
    tensor: string; // "": none
}

export interface Context {
    readonly doc: ViewDocument;
    readonly graphs: Graph[]; // one, or the two of a comparison; empty if the model is broken
    readonly api: Api;
    readonly measured: Measured;
    readonly heat: Heat | null;
    readonly tensors: Map<string, TensorData>;
    readonly dark: boolean;
    selection: Selection;
    overlay: string;
    selectItem(side: number, index: number): void;
    selectTensor(side: number, name: string): void;
    setOverlay(name: string): void;
    toggle(side: number, index: number): void;
    showTab(name: string): void;
    refresh(): void; // draws the panel again
    say(message: string): void; // a line for a few seconds, read by screen readers, too
}
