// SPDX-License-Identifier: Apache-2.0
// Which part of the plane is on the screen. Movements glide to their target.

export interface Pose {
    x: number; // the point of the plane in the middle of the screen
    y: number;
    zoom: number;
}

export const kLeastZoom = 0.002;
export const kMostZoom = 4;
const kGlide = 220; // milliseconds

export function ease(t: number): number {
    return t < 0.5 ? 4 * t * t * t : 1 - Math.pow(-2 * t + 2, 3) / 2;
}

export class Camera {
    pose: Pose = { x: 0, y: 0, zoom: 1 };
    width = 1; // of the screen
    height = 1;
    private begin: Pose | null = null;
    private target: Pose | null = null;
    private since = 0;

    toScreenX(x: number): number {
        return (x - this.pose.x) * this.pose.zoom + this.width / 2;
    }
    toScreenY(y: number): number {
        return (y - this.pose.y) * this.pose.zoom + this.height / 2;
    }
    toPlane(sx: number, sy: number): [number, number] {
        return [
            (sx - this.width / 2) / this.pose.zoom + this.pose.x,
            (sy - this.height / 2) / this.pose.zoom + this.pose.y,
        ];
    }

    jump(pose: Pose): void {
        this.pose = { ...pose, zoom: Math.min(kMostZoom, Math.max(kLeastZoom, pose.zoom)) };
        this.target = null;
    }
    glide(pose: Pose, now: number): void {
        this.begin = { ...this.pose };
        this.target = { ...pose, zoom: Math.min(kMostZoom, Math.max(kLeastZoom, pose.zoom)) };
        this.since = now;
    }
    // Where a running movement will end.
    get goal(): Pose {
        return this.target ?? this.pose;
    }

    // Moves on; true while the movement lasts.
    step(now: number): boolean {
        if (!this.target || !this.begin) return false;
        const t = Math.min(1, Math.max(0, (now - this.since) / kGlide));
        const e = ease(t);
        const mix = (a: number, b: number): number => a + (b - a) * e;
        const zoom = Math.exp(mix(Math.log(this.begin.zoom), Math.log(this.target.zoom)));
        this.pose = {
            x: mix(this.begin.x, this.target.x),
            y: mix(this.begin.y, this.target.y),
            zoom,
        };
        if (t >= 1) this.target = null;
        return t < 1;
    }

    pan(dx: number, dy: number): void {
        this.jump({
            x: this.pose.x - dx / this.pose.zoom,
            y: this.pose.y - dy / this.pose.zoom,
            zoom: this.pose.zoom,
        });
    }
    // Zooms so that the point under the pointer stays where it is.
    zoomAt(sx: number, sy: number, factor: number): void {
        const [px, py] = this.toPlane(sx, sy);
        const zoom = Math.min(kMostZoom, Math.max(kLeastZoom, this.pose.zoom * factor));
        this.jump({
            x: px - (sx - this.width / 2) / zoom,
            y: py - (sy - this.height / 2) / zoom,
            zoom,
        });
    }
    poseFor(x: number, y: number, width: number, height: number, most = 1.25, margin = 40): Pose {
        const zoom = Math.min(
            most,
            (this.width - 2 * margin) / Math.max(1, width),
            (this.height - 2 * margin) / Math.max(1, height),
        );
        return { x: x + width / 2, y: y + height / 2, zoom: Math.max(kLeastZoom, zoom) };
    }
}
