// SPDX-License-Identifier: Apache-2.0
// The search field with its suggestions.

import { h } from "./dom";
import { buildIndex, search, type Entry } from "./search";
import type { Graph } from "./graph/items";

export class SearchBox {
    readonly element: HTMLElement;
    private readonly input: HTMLInputElement;
    private readonly list: HTMLElement;
    private index: Entry[] | null = null;
    private shown: Entry[] = [];
    private active = -1;

    constructor(
        private readonly graphs: Graph[],
        private readonly go: (entry: Entry) => void,
    ) {
        this.list = h("ul", {
            class: "suggestions",
            role: "listbox",
            id: "suggestions",
            hidden: true,
        });
        this.input = h("input", {
            type: "search",
            placeholder: "Search operations, tensors, attributes",
            "aria-label": "search",
            role: "combobox",
            "aria-expanded": "false",
            "aria-controls": "suggestions",
            autocomplete: "off",
            spellcheck: "false",
        });
        this.element = h(
            "div",
            { class: "search", role: "search" },
            this.input,
            h("kbd", { "aria-hidden": "true" }, "/"),
            this.list,
        );
        this.input.addEventListener("input", () => this.update());
        this.input.addEventListener("focus", () => this.update());
        this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
        this.input.addEventListener("keydown", (event) => this.key(event));
    }

    focus(): void {
        this.input.focus();
        this.input.select();
    }

    private update(): void {
        this.index ??= buildIndex(this.graphs);
        this.shown = search(this.index, this.input.value);
        this.active = this.shown.length ? 0 : -1;
        this.list.replaceChildren(
            ...this.shown.map((entry, i) => {
                const row = h(
                    "li",
                    {
                        role: "option",
                        id: `suggestion-${i}`,
                        "aria-selected": i === this.active ? "true" : "false",
                    },
                    h("span", { class: `kind ${entry.kind}` }, entry.kind),
                    h("span", { class: "text" }, entry.text),
                    h("span", { class: "dim" }, entry.detail),
                );
                row.addEventListener("mousedown", (event) => {
                    event.preventDefault();
                    this.choose(i);
                });
                return row;
            }),
        );
        if (this.input.value.trim() && !this.shown.length)
            this.list.append(h("li", { class: "dim none" }, "nothing found"));
        this.list.hidden = this.input.value.trim() === "";
        this.input.setAttribute("aria-expanded", String(!this.list.hidden));
        this.highlight();
    }
    private highlight(): void {
        [...this.list.children].forEach((row, i) =>
            row.setAttribute("aria-selected", i === this.active ? "true" : "false"),
        );
        if (this.active >= 0) {
            this.input.setAttribute("aria-activedescendant", `suggestion-${this.active}`);
            this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
        } else this.input.removeAttribute("aria-activedescendant");
    }
    private key(event: KeyboardEvent): void {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            const step = event.key === "ArrowDown" ? 1 : -1;
            if (this.shown.length)
                this.active = (this.active + step + this.shown.length) % this.shown.length;
            this.highlight();
        } else if (event.key === "Enter") this.choose(this.active);
        else if (event.key === "Escape") {
            this.close();
            this.input.blur();
        } else return;
        event.preventDefault();
        event.stopPropagation();
    }
    private choose(i: number): void {
        const entry = this.shown[i];
        if (!entry) return;
        this.close();
        this.input.blur();
        this.go(entry);
    }
    private close(): void {
        this.list.hidden = true;
        this.input.setAttribute("aria-expanded", "false");
    }
}
