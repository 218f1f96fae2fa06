/** A gizmo on the stage: moves, turns and scales about a point; and dots and lines for what else can be taken hold of. */

import { BufferAttribute, BufferGeometry, Line, MathUtils, Object3D, Points, Quaternion, Vector3, type Scene } from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import type { Tool } from "../gestures";
import type { Session } from "../session";
import { dotMaterial, lineMaterial } from "../shading";
import { nearestTurn, type Pose, type Three } from "./handles";

export type GizmoMode = "translate" | "rotate" | "scale";

type Place = readonly [number, number];

/** how large it is on the screen, of the size three.js gives it */
const SIZE = 0.85;

export class Gizmo implements Tool {
  private readonly controls: TransformControls;
  private readonly held = new Object3D();
  private readonly curve = new Line(new BufferGeometry(), lineMaterial([0.78, 0.34, 0.12], 0.9));
  private readonly knots = new Points(new BufferGeometry(), dotMaterial([0.78, 0.34, 0.12]));
  private scene: Scene | null = null;
  private pivot: Three = [0, 0, 0];
  private before: Pose = { move: [0, 0, 0], rotate: [0, 0, 0], scale: 1 };
  private pointer = { x: 0, y: 0, button: 0 };

  constructor(
    private readonly session: Session,
    private readonly acts: { moved(pose: Pose): void; released(): void },
  ) {
    this.controls = new TransformControls(session.orbit.camera);
    this.controls.setSize(SIZE);
    this.controls.addEventListener("change", () => session.invalidate());
    this.controls.addEventListener("objectChange", () => acts.moved(this.pose));
    this.held.rotation.order = "XYZ";
    for (const drawn of [this.curve, this.knots]) drawn.frustumCulled = false;
    this.curve.material.depthTest = false;
    this.curve.renderOrder = 7;
    this.knots.renderOrder = 8;
    this.knots.material.uniforms["size"]!.value = 9;
  }

  /** Puts it into a scene; null takes it out. */
  enter(scene: Scene | null): void {
    if (scene === this.scene) return;
    const parts = [this.held, this.controls.getHelper(), this.curve, this.knots];
    if (this.scene !== null) this.scene.remove(...parts);
    if (scene !== null) scene.add(...parts);
    this.scene = scene;
  }

  /** Holds what turns about a pivot at rest [m] and has a pose; turns and scales only where that means something. */
  hold(pivot: Three, pose: Pose): void {
    this.pivot = pivot;
    this.before = pose;
    this.held.position.set(...(pivot.map((value, c) => value + pose.move[c]!) as Three));
    this.held.quaternion.copy(quaternion(pose.rotate));
    const { scale } = pose;
    this.held.scale.set(...(typeof scale === "number" ? [scale, scale, scale] as Three : scale));
    this.held.updateMatrixWorld();
    this.controls.attach(this.held);
    this.session.invalidate();
  }

  letGo(): void {
    this.controls.detach();
    this.session.invalidate();
  }

  setMode(mode: GizmoMode): void {
    this.controls.setMode(mode);
    this.controls.setSpace(mode === "scale" ? "local" : "world");
    this.session.invalidate();
  }

  /** A line, and dots where it can be taken hold of; empty for none. */
  draw(curve: Float32Array, knots: Float32Array): void {
    for (const [drawn, points] of [[this.curve, curve], [this.knots, knots]] as const) {
      drawn.geometry.dispose();
      drawn.geometry = new BufferGeometry();
      drawn.geometry.setAttribute("position", new BufferAttribute(points, 3));
      drawn.visible = points.length > 0;
    }
    this.session.invalidate();
  }

  /** (3 n,) [m] the points of the line that is drawn. */
  get drawn(): readonly number[] {
    return this.curve.visible ? Array.from(this.curve.geometry.getAttribute("position")?.array ?? []) : [];
  }

  /** In the picture, in shares of it; null while nothing is held. */
  get where(): readonly [number, number] | null {
    if (this.scene === null || this.controls.object === undefined) return null;
    const seen = this.held.position.clone().project(this.session.orbit.camera);
    return [0.5 + 0.5 * seen.x, 0.5 - 0.5 * seen.y];
  }

  private get pose(): Pose {
    const { position, scale } = this.held;
    const move = position.toArray().map((value, c) => value - this.pivot[c]!) as Three;
    const rotate = nearestTurn(rotationVector(this.held.quaternion), this.before.rotate);
    return { move, rotate, scale: scale.toArray().map((one) => MathUtils.clamp(Math.abs(one), 1e-3, 1e3)) as Three };
  }

  /** What takes the drag: an arrow, a ring, a box of the gizmo. */
  down(event: PointerEvent, at: Place): boolean {
    if (event.button !== 0) return false;
    this.pointAt(at);
    this.controls.pointerHover(this.event(this.pointer));
    this.controls.pointerDown(this.event(this.pointer));
    return this.controls.dragging;
  }

  drag(_: PointerEvent, at: Place): void {
    this.pointAt(at);
    this.controls.pointerMove(this.event({ ...this.pointer, button: -1 }));
  }

  up(): void {
    this.controls.pointerUp(this.event(this.pointer));
    this.before = this.pose;
    this.acts.released();
  }

  hover(at: Place | null): void {
    if (at === null || this.scene === null) return;
    this.pointAt(at);
    this.controls.pointerHover(this.event(this.pointer));
    this.session.invalidate();
  }

  private pointAt([x, y]: Place): void {
    this.pointer = { x: 2 * x - 1, y: 1 - 2 * y, button: 0 };
  }

  /** three.js asks for an event and reads these three of it. */
  private event(pointer: { x: number; y: number; button: number }): PointerEvent {
    return pointer as unknown as PointerEvent;
  }
}

const DEGREE = Math.PI / 180;

function quaternion(turn: Three): Quaternion {
  const angle = Math.hypot(...turn);
  return angle < 1e-9 ? new Quaternion() : new Quaternion().setFromAxisAngle(new Vector3(...turn).divideScalar(angle), angle * DEGREE);
}

/** Axis times angle [°], the shorter way. */
function rotationVector(of: Quaternion): Three {
  const q = of.w < 0 ? new Quaternion(-of.x, -of.y, -of.z, -of.w) : of;
  const sine = Math.hypot(q.x, q.y, q.z);
  const angle = sine < 1e-12 ? 0 : (2 * Math.atan2(sine, q.w)) / sine / DEGREE;
  return [q.x * angle, q.y * angle, q.z * angle];
}
