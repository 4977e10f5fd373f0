// SPDX-License-Identifier: Apache-2.0
// The endpoints of `lemma view`. A page that is a file of its own has none.

import type { Errors, Kernel, MemoryPlan, TensorData, Times } from "./document";
import { clean } from "./text";

export class Api {
    constructor(
        readonly live: boolean,
        private readonly token: string,
    ) {}

    private async ask<T>(path: string, body?: unknown): Promise<T> {
        if (!this.live) throw new Error("this page is a file; only `lemma view MODEL` can measure");
        const response = await fetch(path, {
            method: body === undefined ? "GET" : "POST",
            headers: {
                "X-Lemma-Token": this.token,
                ...(body === undefined ? {} : { "Content-Type": "application/json" }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const answer = (await response
            .json()
            .catch(() => ({ error: `the server answered ${response.status}` }))) as T & {
            error?: unknown;
        };
        if (!response.ok || (answer && typeof answer.error === "string"))
            throw new Error(clean(answer?.error ?? `status ${response.status}`, 400));
        return answer;
    }

    document(): Promise<unknown> {
        return this.ask("api/document");
    }
    tensor(name: string, options: Record<string, string> = {}): Promise<TensorData> {
        return this.ask(`api/tensor?${new URLSearchParams({ name, ...options }).toString()}`);
    }
    run(): Promise<{ tensors: Record<string, TensorData> }> {
        return this.ask("api/run", { seed: 1 });
    }
    profile(threads: number): Promise<Times> {
        return this.ask("api/profile", threads > 0 ? { threads } : {});
    }
    compare(): Promise<Errors> {
        return this.ask("api/compare", {});
    }
    memory(): Promise<MemoryPlan> {
        return this.ask("api/memory");
    }
    async kernels(operation: number): Promise<Kernel[]> {
        const answer = await this.ask<Kernel[] | { kernels?: Kernel[] }>(
            `api/kernels?operation=${operation}`,
        );
        return Array.isArray(answer) ? answer : (answer.kernels ?? []);
    }
}
