// SPDX-License-Identifier: Apache-2.0
// Families of operators and their colours. The family follows from the operator's module and name.

export type Family =
    | "convolution"
    | "linear"
    | "activation"
    | "normalisation"
    | "pooling"
    | "layout"
    | "math"
    | "recurrent"
    | "quantisation"
    | "image"
    | "control"
    | "scope"
    | "port"
    | "other";

// The first rule whose words occur in the last part of the name decides; then the module decides.
const kNames: [Family, RegExp][] = [
    ["control", /^(if|loop|scan|while)$/],
    ["quantisation", /quant|qlinear/],
    ["normalisation", /norm|lrn|dropout/],
    ["convolution", /conv/],
    ["pooling", /pool|reduce|^arg(max|min)$|^topk$|_reduce|^(sum|mean|max|min)_?reduce/],
    ["recurrent", /lstm|gru|^rnn|attention/],
    ["linear", /matmul|gemm|linear|einsum|^dense$|dot/],
    [
        "activation",
        /relu|sigmoid|softmax|softplus|softsign|^elu$|^selu$|^gelu$|silu|swish|tanh|mish|celu|activation|^clip$|clamp/,
    ],
    ["image", /resize|upsample|interp|image|grid|roi|suppression/],
    [
        "layout",
        /reshape|transpose|concat|split|slice|gather|scatter|pad|squeeze|flatten|expand|tile|shape|broadcast|cast|stack|reverse|copy|identity|constant|range|where|select|space_?to_?depth|depth_?to_?space|onehot|permute/,
    ],
];
const kModules: [Family, RegExp][] = [
    ["layout", /(^|\.)layout\./],
    ["linear", /(^|\.)linalg\./],
    ["quantisation", /(^|\.)quant\./],
    ["image", /(^|\.)image\./],
    ["math", /(^|\.)(math|arithmetic|elementwise|logic|integer)\./],
];

const known = new Map<string, Family>();

export function familyOf(operation: string, kind: string): Family {
    if (kind === "control") return "control";
    const cached = known.get(operation);
    if (cached) return cached;
    const name = operation
        .slice(operation.lastIndexOf(".") + 1)
        .toLowerCase()
        .slice(0, 80);
    const found =
        kNames.find(([, words]) => words.test(name))?.[0] ??
        kModules.find(([, words]) => words.test(operation.slice(0, 80)))?.[0] ??
        (/^(add|sub|mul|div|pow|sqrt|exp|log|neg|abs|min|max|equal|less|greater|and|or|not|erf|sin|cos|floor|ceil|round|sum|mean|reciprocal|mod|sign)/.test(
            name,
        )
            ? "math"
            : "other");
    if (known.size < 10000) known.set(operation, found);
    return found;
}

export interface Colours {
    fill: string;
    line: string;
    ink: string;
}

// Hue and saturation; the lightness belongs to the theme.
const kHues: Record<Family, [number, number]> = {
    convolution: [214, 62],
    linear: [244, 46],
    activation: [22, 62],
    normalisation: [152, 36],
    pooling: [184, 42],
    layout: [220, 8],
    math: [200, 16],
    recurrent: [338, 42],
    quantisation: [44, 56],
    image: [92, 30],
    control: [288, 32],
    scope: [220, 12],
    port: [220, 14],
    other: [32, 10],
};

export function coloursOf(family: Family, dark: boolean): Colours {
    const [hue, saturation] = kHues[family];
    if (dark) {
        return {
            fill: `hsl(${hue}, ${Math.round(saturation * 0.5)}%, 20%)`,
            line: `hsl(${hue}, ${Math.round(saturation * 0.55)}%, 40%)`,
            ink: `hsl(${hue}, ${Math.round(saturation * 0.7)}%, 84%)`,
        };
    }
    return {
        fill: `hsl(${hue}, ${saturation}%, 95.5%)`,
        line: `hsl(${hue}, ${Math.round(saturation * 0.62)}%, 72%)`,
        ink: `hsl(${hue}, ${Math.round(saturation * 0.8)}%, 26%)`,
    };
}

export const kFamilyNames: Record<Family, string> = {
    convolution: "convolution",
    linear: "matrix product",
    activation: "activation",
    normalisation: "normalisation",
    pooling: "pooling, reduction",
    layout: "layout",
    math: "arithmetic",
    recurrent: "recurrent, attention",
    quantisation: "quantisation",
    image: "image",
    control: "control flow",
    scope: "scope",
    port: "input, output",
    other: "other",
};
