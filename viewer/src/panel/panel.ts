// SPDX-License-Identifier: Apache-2.0
// The panel at the right: tabs, and an edge that resizes it.

import { h } from "../dom";

export interface Tab {
    name: string;
    title: string;
    draw(): HTMLElement;
}

const kKey = "lemma-panel-width";

export class Panel {
    readonly element: HTMLElement;
    current: string;
    private readonly body = h("div", {
        class: "panel-body",
        role: "tabpanel",
        tabindex: 0,
        "aria-label": "details",
    });
    private readonly heads = new Map<string, HTMLElement>();

    constructor(
        private readonly tabs: Tab[],
        private readonly changed: () => void,
    ) {
        this.current = tabs[0].name;
        const row = h("div", { class: "tabs", role: "tablist" });
        for (const tab of tabs) {
            const head = h(
                "button",
                {
                    type: "button",
                    role: "tab",
                    "data-tab": tab.name,
                    onclick: () => this.show(tab.name),
                },
                tab.title,
            );
            head.addEventListener("keydown", (event) => this.walk(event));
            this.heads.set(tab.name, head);
            row.append(head);
        }
        const grip = h("div", {
            class: "grip",
            role: "separator",
            "aria-orientation": "vertical",
            "aria-label": "width of the panel",
            tabindex: 0,
        });
        this.element = h("aside", { class: "panel", "aria-label": "panel" }, grip, row, this.body);
        this.resizable(grip);
    }

    show(name: string): void {
        if (!this.tabs.some((t) => t.name === name)) return;
        this.current = name;
        this.draw();
        this.body.scrollTop = 0;
        this.changed();
    }
    draw(): void {
        for (const [name, head] of this.heads) {
            head.setAttribute("aria-selected", name === this.current ? "true" : "false");
            head.tabIndex = name === this.current ? 0 : -1;
        }
        this.body.replaceChildren(this.tabs.find((t) => t.name === this.current)!.draw());
    }
    toggle(): void {
        this.element.hidden = !this.element.hidden;
    }

    private walk(event: KeyboardEvent): void {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (!step) return;
        const at = this.tabs.findIndex((t) => t.name === this.current);
        const next = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
        this.show(next.name);
        this.heads.get(next.name)?.focus();
        event.stopPropagation();
    }

    private resizable(grip: HTMLElement): void {
        const set = (width: number): void => {
            const bounded = Math.max(260, Math.min(window.innerWidth * 0.7, width));
            this.element.style.width = `${bounded}px`;
            try {
                localStorage.setItem(kKey, String(Math.round(bounded)));
            } catch {
                // Not remembered.
            }
        };
        try {
            const known = Number(localStorage.getItem(kKey));
            if (known >= 260)
                this.element.style.width = `${Math.min(known, window.innerWidth * 0.7)}px`;
        } catch {
            // No storage.
        }
        grip.addEventListener("pointerdown", (event) => {
            grip.setPointerCapture(event.pointerId);
            const move = (e: PointerEvent): void => set(window.innerWidth - e.clientX);
            grip.addEventListener("pointermove", move);
            grip.addEventListener(
                "pointerup",
                () => grip.removeEventListener("pointermove", move),
                { once: true },
            );
        });
        grip.addEventListener("keydown", (event) => {
            if (event.key === "ArrowLeft") set(this.element.offsetWidth + 24);
            else if (event.key === "ArrowRight") set(this.element.offsetWidth - 24);
            else return;
            event.stopPropagation();
        });
    }
}
