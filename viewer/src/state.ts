// SPDX-License-Identifier: Apache-2.0
// What a deep link remembers, as the part of the address behind `#`.

export interface Link {
    select: string; // key of an item, or "" ; tensors are "t:NAME"
    side: number; // 0, or 1 for the right graph of a comparison
    open: string[] | null; // keys of open groups; null: as at the start
    view: [number, number, number] | null;
    overlay: string;
    tab: string;
    token: string;
}

const kMostGroups = 400;

export function readLink(hash: string): Link {
    const link: Link = {
        select: "",
        side: 0,
        open: null,
        view: null,
        overlay: "",
        tab: "",
        token: "",
    };
    for (const part of hash.replace(/^#/, "").split("&")) {
        const at = part.indexOf("=");
        if (at < 0) continue;
        const name = part.slice(0, at);
        const value = decode(part.slice(at + 1));
        if (name === "select") link.select = value;
        else if (name === "side") link.side = value === "1" ? 1 : 0;
        else if (name === "overlay") link.overlay = value;
        else if (name === "tab") link.tab = value;
        else if (name === "token") link.token = value;
        else if (name === "open")
            link.open =
                part.slice(at + 1) === ""
                    ? []
                    : part
                          .slice(at + 1)
                          .split(",")
                          .slice(0, kMostGroups)
                          .map(decode);
        else if (name === "view") {
            const numbers = value.split(",").map(Number);
            if (numbers.length === 3 && numbers.every(Number.isFinite) && numbers[2] > 0)
                link.view = [numbers[0], numbers[1], numbers[2]];
        }
    }
    return link;
}

function decode(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

export function writeLink(link: Link): string {
    const parts: string[] = [];
    const code = (text: string): string =>
        encodeURIComponent(text).replace(/%2F/g, "/").replace(/%3A/g, ":");
    if (link.select) parts.push(`select=${code(link.select)}`);
    if (link.side) parts.push("side=1");
    if (link.open && link.open.length <= kMostGroups)
        parts.push(`open=${link.open.map(code).join(",")}`);
    if (link.view)
        parts.push(`view=${link.view.map((n, i) => n.toFixed(i === 2 ? 3 : 0)).join(",")}`);
    if (link.overlay) parts.push(`overlay=${code(link.overlay)}`);
    if (link.tab) parts.push(`tab=${code(link.tab)}`);
    if (link.token) parts.push(`token=${code(link.token)}`);
    return parts.length ? `#${parts.join("&")}` : "";
}
