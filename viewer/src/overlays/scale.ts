// SPDX-License-Identifier: Apache-2.0
// Colours of heat: a calm ramp from the ground to a warm red, in both themes.

type Rgb = [number, number, number];
const kLight: Rgb[] = [
    [250, 246, 236],
    [250, 224, 178],
    [243, 178, 118],
    [222, 116, 82],
    [168, 50, 62],
];
const kDark: Rgb[] = [
    [38, 38, 44],
    [84, 58, 48],
    [146, 82, 48],
    [208, 122, 60],
    [250, 196, 110],
];

export function heat(share: number, dark: boolean): string {
    const ramp = dark ? kDark : kLight;
    const at = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * (ramp.length - 1);
    const i = Math.min(ramp.length - 2, Math.floor(at));
    const mix = (n: number): number =>
        Math.round(ramp[i][n] + (ramp[i + 1][n] - ramp[i][n]) * (at - i));
    return `rgb(${mix(0)}, ${mix(1)}, ${mix(2)})`;
}

// Signed values of tensors: blue below zero, red above.
export function signed(value: number, most: number, dark: boolean): Rgb {
    const t = most > 0 ? Math.max(-1, Math.min(1, value / most)) : 0;
    const zero: Rgb = dark ? [30, 33, 40] : [248, 248, 246];
    const end: Rgb =
        t < 0 ? (dark ? [108, 158, 250] : [38, 88, 178]) : dark ? [250, 138, 104] : [186, 52, 44];
    const s = Math.pow(Math.abs(t), 0.7);
    return [0, 1, 2].map((i) => Math.round(zero[i] + (end[i] - zero[i]) * s)) as Rgb;
}
