// SPDX-License-Identifier: Apache-2.0
// Elements from text. Nothing of a model ever becomes markup: texts go through text nodes.

type Child = Node | string | null | undefined | false;
type Properties = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

function fill(element: Element, properties: Properties, children: Child[]): void {
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children)
        if (child !== null && child !== undefined && child !== false) element.append(child);
}

// h("a", {class: "link", onclick: f}, "text")
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    properties: Properties = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    fill(element, properties, children);
    return element;
}

export function svg(tag: string, properties: Properties = {}, ...children: Child[]): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    fill(element, properties, children);
    return element;
}

export function button(
    label: string,
    title: string,
    act: () => void,
    kind = "",
): HTMLButtonElement {
    return h(
        "button",
        { type: "button", title, "aria-label": title, class: kind, onclick: () => act() },
        label,
    );
}

// A section of the panel that folds.
export function section(title: string, ...children: Child[]): HTMLElement {
    return h("details", { open: true, class: "section" }, h("summary", {}, title), ...children);
}

export function facts(rows: [string, Child][]): HTMLElement {
    const list = h("dl", { class: "facts" });
    for (const [name, value] of rows) {
        if (value === null || value === undefined || value === false || value === "") continue;
        list.append(h("dt", {}, name), h("dd", {}, value));
    }
    return list;
}

export function download(name: string, blob: Blob): void {
    const url = URL.createObjectURL(blob);
    const link = h("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}
