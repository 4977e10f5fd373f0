// SPDX-License-Identifier: Apache-2.0
// The fast layout in a worker: the page stays responsive while ten thousand boxes find their places.

import { layoutNested, type LayoutRequest } from "./nested";

interface Scope {
    onmessage: ((event: MessageEvent<{ id: number; request: LayoutRequest }>) => void) | null;
    postMessage(message: unknown, transfer?: Transferable[]): void;
}
const scope = self as unknown as Scope;

scope.onmessage = (event) => {
    const { id, request } = event.data;
    try {
        const result = layoutNested(request);
        scope.postMessage({ id, result });
    } catch (error) {
        scope.postMessage({ id, error: String(error) });
    }
};
