// SPDX-License-Identifier: Apache-2.0
// The page: the bar, one canvas or two, the panel, and the state that connects them.

import type { Api } from "./api";
import type { Context, Selection } from "./context";
import type { TensorData, ViewDocument } from "./document";
import { changesPanel, compare, type Comparison } from "./diff/diff";
import { button, download, h } from "./dom";
import { buildGraph, type Graph } from "./graph/items";
import { kDark, kLight } from "./graph/palette";
import { watchPointer } from "./graph/pointer";
import { toPng, toSvg } from "./graph/svg";
import { GraphView } from "./graph/view";
import { helpDialog, watchKeys, type Command } from "./keys";
import { legend } from "./legend";
import { normaliseGraph, outerProducer } from "./normalise";
import { heatOf, kOverlays, type Heat, type Measured } from "./overlays/overlays";
import { groupPanel } from "./panel/group";
import { listPanel } from "./panel/list";
import { memoryPanel } from "./panel/memory";
import { operation } from "./panel/operation";
import { overview } from "./panel/overview";
import { Panel, type Tab } from "./panel/panel";
import { markers, problemCount, problemPanel } from "./panel/problems";
import { rankingPanel } from "./panel/ranking";
import { runModel, tensorPanel } from "./panel/tensor";
import { tensorsPanel } from "./panel/tensors";
import { SearchBox } from "./searchbox";
import { readLink, writeLink } from "./state";
import { clean } from "./text";
import { Theme } from "./theme";

export class App implements Context {
    readonly graphs: Graph[] = [];
    readonly views: GraphView[] = [];
    readonly measured: Measured;
    readonly tensors: Map<string, TensorData>;
    selection: Selection = { side: 0, item: -1, tensor: "" };
    overlay = "";
    heat: Heat | null = null;
    private comparison: Comparison | null = null;
    private readonly theme: Theme;
    private readonly panel: Panel;
    private readonly stage = h("main", { class: "stage", "aria-label": "graph" });
    private readonly legend = h("div", { class: "legend", hidden: true });
    private readonly tip = h("div", { class: "tip", role: "tooltip", hidden: true });
    private readonly status = h("div", { class: "status", role: "status", "aria-live": "polite" });
    private readonly search: SearchBox;
    private readonly help: HTMLDialogElement;
    private linkTimer = 0;
    private sayTimer = 0;
    private started = false;

    constructor(
        readonly doc: ViewDocument,
        readonly api: Api,
    ) {
        this.measured = { times: doc.times, errors: doc.errors };
        this.tensors = doc.tensors;
        this.theme = new Theme(() => this.restyle());
        for (const value of doc.diff ? [doc.diff.a, doc.diff.b] : [doc.graph]) {
            const model = normaliseGraph(value);
            if (model) this.graphs.push(buildGraph(model));
        }
        if (doc.diff && this.graphs.length === 2) this.comparison = compare(doc.diff, this.graphs);
        document.title = `${clean(doc.model.name, 60)} – Lemma`;
        this.search = new SearchBox(this.graphs, (e) =>
            e.tensor ? this.selectTensor(e.side, e.tensor) : this.selectItem(e.side, e.item),
        );
        this.panel = new Panel(this.tabs(), () => this.linkSoon());
        const commands = this.commands();
        this.help = helpDialog(commands);
        document.body.append(
            this.bar(),
            h("div", { class: "room" }, this.stage, this.panel.element),
            this.status,
            this.help,
        );
        this.graphs.forEach((graph, side) => this.addView(graph, side));
        if (!this.graphs.length)
            this.stage.append(
                h(
                    "div",
                    { class: "empty" },
                    h("p", {}, "There is no graph to draw."),
                    h("p", { class: "dim" }, "The panel lists the problems."),
                ),
            );
        this.stage.append(this.legend, this.tip, this.zoomButtons());
        watchKeys(commands);
        this.restyle();
        this.follow();
        window.addEventListener("hashchange", () => this.follow());
        this.started = true;
    }

    get dark(): boolean {
        return this.theme.dark;
    }

    private addView(graph: Graph, side: number): void {
        const canvas = h("canvas", {
            tabindex: 0,
            role: "application",
            "aria-label": `graph ${clean(graph.model.name, 60)}; the tab List has it as text`,
            class: "graph",
        });
        const holder = h(
            "div",
            { class: "side" },
            canvas,
            this.comparison ? h("span", { class: "side-name" }, side ? "B" : "A") : null,
        );
        this.stage.append(holder);
        const view = new GraphView(canvas, graph, {
            selected: (index) => this.selectItem(side, index, false),
            tensor: (name) => this.selectTensor(side, name, false),
            changed: () => this.linkSoon(),
            tip: (text, x, y) => this.showTip(text, x + holder.offsetLeft, y + holder.offsetTop),
        });
        watchPointer(view);
        canvas.addEventListener("focus", () => (this.active = side));
        this.views.push(view);
    }
    private active = 0;
    private get view(): GraphView | undefined {
        return this.views[this.active] ?? this.views[0];
    }

    private bar(): HTMLElement {
        const { doc } = this;
        return h(
            "header",
            { class: "top" },
            h(
                "div",
                { class: "brand" },
                h("span", { class: "logo", "aria-hidden": "true" }, "λ"),
                h(
                    "span",
                    { class: "name", title: clean(doc.model.path, 400) },
                    clean(doc.model.name, 60),
                ),
                doc.model.format ? h("span", { class: "chip" }, clean(doc.model.format, 12)) : null,
                doc.live ? h("span", { class: "chip live" }, "live") : null,
            ),
            this.search.element,
            h(
                "nav",
                { class: "tools", "aria-label": "tools" },
                this.api.live && !doc.diff
                    ? button(
                          "Run",
                          "run the model once and keep all tensors",
                          () => void runModel(this),
                      )
                    : null,
                button("SVG", "save the graph as SVG", () => this.export("svg")),
                button("PNG", "save the graph as PNG", () => void this.export("png")),
                button("◐", "light or dark (t)", () => this.theme.toggle(), "icon"),
                button("?", "keys", () => this.help.showModal(), "icon"),
            ),
        );
    }
    private zoomButtons(): HTMLElement {
        return h(
            "div",
            { class: "zoom" },
            button("+", "zoom in (+)", () => this.view?.zoomBy(1.4)),
            button("−", "zoom out (-)", () => this.view?.zoomBy(1 / 1.4)),
            button("⤢", "fit the graph (f)", () => this.views.forEach((v) => v.fit())),
        );
    }

    private tabs(): Tab[] {
        const problems = problemCount(this);
        const tabs: Tab[] = [{ name: "details", title: "Details", draw: () => this.details() }];
        if (this.comparison)
            tabs.push({
                name: "changes",
                title: "Changes",
                draw: () => changesPanel(this, this.comparison!),
            });
        if (problems || this.doc.profile || !this.graphs.length)
            tabs.push({
                name: "problems",
                title: problems ? `Problems ${problems}` : "Problems",
                draw: () => problemPanel(this),
            });
        if (!this.comparison && this.graphs.length) {
            tabs.push({ name: "overlays", title: "Overlays", draw: () => rankingPanel(this) });
            tabs.push({ name: "tensors", title: "Tensors", draw: () => tensorsPanel(this) });
            if (this.doc.memory || this.api.live)
                tabs.push({ name: "memory", title: "Memory", draw: () => memoryPanel(this) });
        }
        tabs.push({ name: "list", title: "List", draw: () => listPanel(this) });
        return tabs;
    }
    private details(): HTMLElement {
        const { side, item, tensor } = this.selection;
        const graph = this.graphs[side];
        if (graph && tensor) return tensorPanel(this, side, tensor);
        const found = graph?.items[item];
        if (!found) return overview(this, this.active < this.graphs.length ? this.active : 0);
        return found.kind === "op" && found.op
            ? operation(this, side, found.op)
            : groupPanel(this, side, found);
    }

    private commands(): Command[] {
        const walk = (direction: "up" | "down" | "left" | "right") => (): void => {
            const view = this.view;
            const next = view?.neighbour(direction) ?? -1;
            if (next >= 0) this.selectItem(this.active, next);
        };
        return [
            { keys: ["/"], shown: "/ Ctrl-K", help: "search", act: () => this.search.focus() },
            { keys: ["ArrowUp"], shown: "↑", help: "to the producer", act: walk("up") },
            { keys: ["ArrowDown"], shown: "↓", help: "to the consumer", act: walk("down") },
            { keys: ["ArrowLeft"], shown: "←", help: "to the left neighbour", act: walk("left") },
            {
                keys: ["ArrowRight"],
                shown: "→",
                help: "to the right neighbour",
                act: walk("right"),
            },
            {
                keys: ["Enter"],
                shown: "Enter",
                help: "open or close the selected group",
                act: () => this.toggle(this.selection.side, this.selection.item),
            },
            {
                keys: ["Backspace"],
                shown: "Backspace",
                help: "select the group around the selection",
                act: () => this.selectParent(),
            },
            {
                keys: ["e", "E"],
                shown: "e E",
                help: "open all scopes and bodies, close all",
                act: (event) => this.views.forEach((v) => v.openAll(event.key === "e")),
            },
            {
                keys: ["f"],
                shown: "f",
                help: "fit the graph into the window",
                act: () => this.views.forEach((v) => v.fit()),
            },
            { keys: ["+", "="], shown: "+", help: "zoom in", act: () => this.view?.zoomBy(1.4) },
            { keys: ["-"], shown: "-", help: "zoom out", act: () => this.view?.zoomBy(1 / 1.4) },
            { keys: ["o"], shown: "o", help: "the next overlay", act: () => this.nextOverlay() },
            {
                keys: ["p"],
                shown: "p",
                help: "show or hide the panel",
                act: () => this.panel.toggle(),
            },
            { keys: ["t"], shown: "t", help: "light or dark", act: () => this.theme.toggle() },
            {
                keys: ["s"],
                shown: "s",
                help: "save the graph as SVG",
                act: () => this.export("svg"),
            },
            {
                keys: ["Escape"],
                shown: "Esc",
                help: "select nothing",
                act: () => (this.help.open ? this.help.close() : this.selectItem(this.active, -1)),
            },
            { keys: ["?"], shown: "?", help: "this help", act: () => this.help.showModal() },
        ];
    }
    private selectParent(): void {
        const graph = this.graphs[this.selection.side];
        const parent = graph?.items[this.selection.item]?.parent ?? -1;
        if (parent >= 0) this.selectItem(this.selection.side, parent);
    }
    private nextOverlay(): void {
        const names = [
            "",
            ...kOverlays.filter((o) => !o.needs || this.measured[o.needs]).map((o) => o.name),
        ];
        this.setOverlay(names[(names.indexOf(this.overlay) + 1) % names.length]);
    }

    selectItem(side: number, index: number, centre = true): void {
        this.selection = { side, item: index, tensor: "" };
        this.active = side;
        this.views.forEach((view, s) => {
            const own = s === side ? index : (this.comparison?.partner[side].get(index) ?? -1);
            view.mark({ selected: own, tensor: "" });
            if (own >= 0) view.reveal(own, centre || s !== side);
        });
        if (index >= 0) this.panel.show("details");
        else this.panel.draw();
        const item = this.graphs[side]?.items[index];
        this.status.textContent = item ? `${item.title} ${clean(item.op?.label, 80)}` : "";
        this.linkSoon();
    }
    selectTensor(side: number, name: string, centre = true): void {
        const graph = this.graphs[side];
        if (!graph?.model.tensors.has(name)) return;
        this.selection = { side, item: -1, tensor: name };
        const from = outerProducer(graph.model, name) ?? graph.model.consumers.get(name)?.[0];
        const index = from ? graph.byOp.get(from)! : -1;
        this.views.forEach((view, s) =>
            view.mark({ selected: -1, tensor: s === side ? name : "" }),
        );
        if (centre && index >= 0) this.views[side].reveal(index);
        this.panel.show("details");
        this.linkSoon();
    }
    toggle(side: number, index: number): void {
        if (index < 0) return;
        const open = this.views[side]?.open.has(index);
        this.views[side]?.toggle(index);
        const other = this.comparison?.partner[side].get(index);
        if (other !== undefined && this.views[1 - side].open.has(other) === open)
            this.views[1 - side].toggle(other);
    }
    setOverlay(name: string): void {
        this.overlay = kOverlays.some((o) => o.name === name) ? name : "";
        this.reheat();
        this.panel.draw();
        this.linkSoon();
    }
    private reheat(): void {
        const overlay = kOverlays.find((o) => o.name === this.overlay);
        const usable = overlay && (!overlay.needs || this.measured[overlay.needs]);
        this.views.forEach((view, side) => {
            const found = usable
                ? heatOf(this.graphs[side], overlay, this.measured, this.dark)
                : null;
            if (side === 0) this.heat = found;
            view.mark({ heat: found?.colours ?? null, heatText: found?.texts ?? null });
        });
        legend(this.legend, this.heat, this.dark);
    }
    showTab(name: string): void {
        this.panel.show(name);
    }
    refresh(): void {
        this.panel.draw();
    }
    say(message: string): void {
        this.status.textContent = clean(message, 300);
        this.status.classList.add("shown");
        clearTimeout(this.sayTimer);
        this.sayTimer = window.setTimeout(() => this.status.classList.remove("shown"), 5000);
    }

    private restyle(): void {
        const problems = markers(this);
        this.views.forEach((view, side) => {
            view.palette = this.theme?.dark ? kDark : kLight;
            view.mark({
                problems: side === 0 ? problems : new Map<number, "error" | "warning">(),
                status: this.comparison?.status[side] ?? null,
            });
        });
        if (this.theme) this.reheat();
        if (this.started) this.panel.draw();
    }
    private showTip(text: string, x: number, y: number): void {
        this.tip.hidden = text === "";
        if (!text) return;
        this.tip.textContent = text;
        this.tip.style.transform = `translate(${Math.max(8, Math.min(x + 14, this.stage.clientWidth - this.tip.offsetWidth - 8))}px, ${Math.min(y + 18, this.stage.clientHeight - 34)}px)`;
    }

    private export(kind: "svg" | "png"): void {
        const view = this.view;
        if (!view?.layout) return;
        const name =
            (clean(this.doc.model.name, 60).replace(/[^\w.-]+/g, "_") || "graph") + `.${kind}`;
        if (kind === "svg")
            download(
                name,
                new Blob([toSvg(view.graph, view.layout, view.palette, view.marks)], {
                    type: "image/svg+xml",
                }),
            );
        else
            void toPng(view.graph, view.layout, view.palette, view.marks).then((blob) =>
                blob ? download(name, blob) : this.say("the picture is too large"),
            );
    }

    // Deep links: the address follows the state, and the state follows the address.
    private linkSoon(): void {
        if (!this.started) return;
        clearTimeout(this.linkTimer);
        this.linkTimer = window.setTimeout(() => this.writeHash(), 300);
    }
    private writeHash(): void {
        const { side, item, tensor } = this.selection;
        const view = this.views[0];
        const { x, y, zoom } = view?.camera.goal ?? { x: 0, y: 0, zoom: 1 };
        const hash = writeLink({
            select: tensor
                ? `t:${tensor.slice(0, 500)}`
                : (this.graphs[side]?.items[item]?.key.slice(0, 500) ?? ""),
            side,
            overlay: this.overlay,
            tab: this.panel.current === "details" ? "" : this.panel.current,
            token: this.token,
            open: view ? [...view.open].map((i) => view.graph.items[i].key) : null,
            view: view?.layout ? [x, y, zoom] : null,
        });
        this.lastHash = hash;
        try {
            history.replaceState(null, "", hash || location.pathname + location.search);
        } catch {
            // A browser may forbid this to files; the page works without.
        }
    }
    private readonly token = readLink(location.hash).token; // stays in the address, so that a reload works
    private lastHash = "-";
    private follow(): void {
        if (location.hash === this.lastHash) return;
        this.lastHash = location.hash;
        const link = readLink(location.hash);
        const view = this.views[0];
        if (view && link.open)
            view.setOpen(
                link.open.map((key) => view.graph.byKey.get(key) ?? -1).filter((i) => i >= 0),
            );
        if (view && link.view)
            view.startAt({ x: link.view[0], y: link.view[1], zoom: link.view[2] });
        for (const each of this.views) void each.relayout(-1, 350);
        if (link.overlay !== this.overlay) this.setOverlay(link.overlay);
        const fallback = this.comparison ? "changes" : !this.graphs.length ? "problems" : "details";
        if (link.select.startsWith("t:"))
            this.selectTensor(link.side, link.select.slice(2), !link.view);
        else
            this.selectItem(
                link.side,
                this.graphs[link.side]?.byKey.get(link.select) ?? -1,
                !link.view,
            );
        this.panel.show(link.tab || (link.select ? "details" : fallback));
    }
}
