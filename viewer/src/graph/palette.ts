// SPDX-License-Identifier: Apache-2.0
// Colours of the canvas in both themes. theme.css has the colours of everything else.

import { coloursOf, type Colours, type Family } from "../family";

export interface Palette {
    dark: boolean;
    ground: string;
    ink: string;
    dim: string;
    edge: string;
    strong: string; // edges of the selection
    accent: string;
    group: string[]; // fills by depth
    groupLine: string;
    error: string;
    warning: string;
    good: string;
    added: string;
    removed: string;
    changed: string;
    of(family: Family): Colours;
}

const cache = new Map<string, Colours>();

function of(dark: boolean): (family: Family) => Colours {
    return (family) => {
        const key = `${family}${dark}`;
        let found = cache.get(key);
        if (!found) cache.set(key, (found = coloursOf(family, dark)));
        return found;
    };
}

export const kLight: Palette = {
    dark: false,
    ground: "#fafaf8",
    ink: "#20242c",
    dim: "#6a7180",
    edge: "#b4bac5",
    strong: "#3b66c4",
    accent: "#2f62d0",
    group: ["#f3f3f0", "#ededea", "#e6e6e3", "#e0e0dd"],
    groupLine: "#d3d5d6",
    error: "#c93a3a",
    warning: "#b97a10",
    good: "#2e8b57",
    added: "#2e8b57",
    removed: "#c0504d",
    changed: "#c58a1a",
    of: of(false),
};

export const kDark: Palette = {
    dark: true,
    ground: "#15171c",
    ink: "#e4e7ec",
    dim: "#949cab",
    edge: "#4b5261",
    strong: "#86aaf5",
    accent: "#7ea4f4",
    group: ["#1a1d23", "#1f2229", "#24282f", "#292e36"],
    groupLine: "#363c48",
    error: "#ef6f6c",
    warning: "#e0ac4a",
    good: "#63c08d",
    added: "#5fbf8a",
    removed: "#e07a76",
    changed: "#dcab4f",
    of: of(true),
};
