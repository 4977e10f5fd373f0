// SPDX-License-Identifier: Apache-2.0
// The keyboard, and the overlay that explains it.

import { h } from "./dom";

export interface Command {
    keys: string[]; // as KeyboardEvent.key
    shown: string;
    help: string;
    act(event: KeyboardEvent): void;
}

export function watchKeys(commands: Command[]): void {
    document.addEventListener("keydown", (event) => {
        const target = event.target as HTMLElement;
        const typing = target.matches?.("input, textarea, select");
        if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
            commands.find((c) => c.keys.includes("/"))?.act(event);
            event.preventDefault();
            return;
        }
        if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape"))
            return;
        // A focused button or list keeps the keys that belong to it.
        if (
            target.matches?.("button, summary, a, [role=tab]") &&
            (event.key === "Enter" || event.key === " ")
        )
            return;
        if (target.closest?.(".panel") && event.key.startsWith("Arrow")) return;
        const command = commands.find((c) => c.keys.includes(event.key));
        if (!command) return;
        event.preventDefault();
        command.act(event);
    });
}

export function helpDialog(commands: Command[]): HTMLDialogElement {
    const rows = commands.map((c) =>
        h(
            "tr",
            {},
            h("td", {}, ...c.shown.split(" ").flatMap((k, i) => [i ? " " : "", h("kbd", {}, k)])),
            h("td", {}, c.help),
        ),
    );
    const mouse = [
        ["drag, wheel", "move"],
        ["Ctrl + wheel, pinch", "zoom"],
        ["click", "select an operation or an edge"],
        ["double click, arrow of a box", "open or close a group"],
    ];
    const dialog = h(
        "dialog",
        { class: "help", "aria-label": "keys" },
        h("h2", {}, "Keys"),
        h("table", {}, ...rows),
        h("h2", {}, "Mouse"),
        h(
            "table",
            {},
            ...mouse.map(([what, does]) => h("tr", {}, h("td", {}, what), h("td", {}, does))),
        ),
        h(
            "p",
            { class: "actions" },
            h("button", { type: "button", onclick: () => dialog.close() }, "close"),
        ),
    );
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog) dialog.close();
    });
    return dialog;
}
