// SPDX-License-Identifier: Apache-2.0
// Light or dark: the system decides until the user does, and the choice is remembered.

const kKey = "lemma-theme";

function stored(): string | null {
    try {
        return localStorage.getItem(kKey);
    } catch {
        return null; // a file in a strict browser has no storage
    }
}

export class Theme {
    dark: boolean;
    constructor(private readonly changed: () => void) {
        const system = window.matchMedia("(prefers-color-scheme: dark)");
        const chosen = stored();
        this.dark = chosen === "dark" || (chosen !== "light" && system.matches);
        this.apply();
        system.addEventListener("change", (event) => {
            if (stored()) return;
            this.dark = event.matches;
            this.apply();
            this.changed();
        });
    }
    toggle(): void {
        this.dark = !this.dark;
        try {
            localStorage.setItem(kKey, this.dark ? "dark" : "light");
        } catch {
            // The choice lasts until the page is closed.
        }
        this.apply();
        this.changed();
    }
    private apply(): void {
        document.documentElement.dataset.theme = this.dark ? "dark" : "light";
    }
}
