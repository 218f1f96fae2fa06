/** Which views there are, where, and how they are drawn: one canvas, a part of it for each. */

import { BufferAttribute, BufferGeometry, Color, Mesh, OrthographicCamera, Scene, Vector3, WebGLRenderer } from "three";
import type { Actor, Part } from "./actor";
import type { OrbitCamera } from "./camera";
import { backdropMaterial } from "./shading";
import type { Look } from "./store";

/** A view: shares of the canvas, from the upper left; `clip` is the part of them that is drawn. */
export interface View {
  readonly take: number;
  readonly part: Part;
  readonly title: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly clip: readonly [number, number];
}

const WHOLE: readonly [number, number] = [0, 1];

/** Views for a look; `aspect` is the canvas's width over height. */
export function arrange(look: Look, takes: readonly { name: string; guide_faces: number }[], aspect: number): View[] {
  const { mode, active } = look;
  const name = (take: number): string => takes[take]?.name ?? "";
  const full = { x: 0, y: 0, width: 1, height: 1, clip: WHOLE };
  if (mode === "wipe") {
    return [
      { ...full, take: active, part: "result", title: name(active), clip: [0, look.split] },
      { ...full, take: look.other, part: "result", title: name(look.other), clip: [look.split, 1] },
    ];
  }
  if (mode === "grid")
    return cells(look.shown.length > 0 ? look.shown : [active], aspect).map((cell) => ({ ...cell, title: name(cell.take) }));
  const hasGuide = (takes[active]?.guide_faces ?? 0) > 0;
  if (mode === "side" && hasGuide) {
    const tall = aspect < 0.9;
    const half = tall ? { ...full, height: 0.5 } : { ...full, width: 0.5 };
    return [
      { ...half, take: active, part: "guide", title: "guide" },
      { ...half, x: tall ? 0 : 0.5, y: tall ? 0.5 : 0, take: active, part: "result", title: "result" },
    ];
  }
  if (mode === "over" && hasGuide) return [{ ...full, take: active, part: "over", title: "guide over result" }];
  return [{ ...full, take: active, part: "result", title: "result" }];
}

/** As square as can be. */
function cells(takes: readonly number[], aspect: number): Omit<View, "title">[] {
  let columns = 1;
  let best = 0;
  for (let n = 1; n <= takes.length; n++) {
    const rows = Math.ceil(takes.length / n);
    const side = Math.min(aspect / n, 1 / rows);
    if (side > best) [best, columns] = [side, n];
  }
  const rows = Math.ceil(takes.length / columns);
  return takes.map((take, i) => ({
    take,
    part: "result" as Part,
    x: (i % columns) / columns,
    y: Math.floor(i / columns) / rows,
    width: 1 / columns,
    height: 1 / rows,
    clip: WHOLE,
  }));
}

export interface Backdrop {
  readonly background: readonly [number, number, number];
  readonly ground: readonly [number, number, number];
}

export const LIGHT: Backdrop = { background: [0.772, 0.766, 0.754], ground: [0.7, 0.694, 0.682] };
export const DARK: Backdrop = { background: [0.205, 0.202, 0.2], ground: [0.255, 0.25, 0.245] };

/** Whether pictures are drawn without a graphics card: several samples a pixel would cost more than half the speed. */
function isSoftware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  const extension = context?.getExtension("WEBGL_debug_renderer_info");
  if (!context || !extension) return false;
  const name = String(context.getParameter(extension.UNMASKED_RENDERER_WEBGL));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class Painter {
  readonly renderer: WebGLRenderer;
  readonly software = isSoftware();
  private readonly behind = new Scene();
  private readonly flat = new OrthographicCamera(-1, 1, 1, -1, 0, 1);
  private readonly backdrop = backdropMaterial();
  private readonly ground = new Color();

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, alpha: false, powerPreference: "high-performance" });
    this.renderer.autoClear = false;
    this.renderer.setScissorTest(true);
    const triangle = new BufferGeometry();
    triangle.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    const sheet = new Mesh(triangle, this.backdrop);
    sheet.frustumCulled = false;
    this.behind.add(sheet);
    this.setBackdrop(LIGHT);
  }

  setBackdrop(colours: Backdrop): void {
    (this.backdrop.uniforms["colour1"]!.value as Color).setRGB(...colours.background);
    this.ground.setRGB(...colours.ground);
  }

  /** Size of the canvas in pixels. */
  resize(width: number, height: number): void {
    this.renderer.setPixelRatio(1);
    this.renderer.setSize(Math.max(Math.round(width), 1), Math.max(Math.round(height), 1), false);
  }

  draw(views: readonly View[], actors: ReadonlyMap<number, Actor>, orbit: OrbitCamera): void {
    const { width, height } = this.canvas;
    for (const view of views) {
      const left = Math.round(view.x * width), right = Math.round((view.x + view.width) * width);
      const top = Math.round(view.y * height), bottom = Math.round((view.y + view.height) * height);
      const from = left + Math.round(view.clip[0] * (right - left)), to = left + Math.round(view.clip[1] * (right - left));
      this.renderer.setViewport(left, height - bottom, right - left, bottom - top);
      this.renderer.setScissor(from, height - bottom, Math.max(to - from, 0), bottom - top);
      this.renderer.clear();
      this.renderer.render(this.behind, this.flat);
      const actor = actors.get(view.take);
      if (actor === undefined) continue;
      orbit.setAspect((right - left) / Math.max(bottom - top, 1));
      const upward = new Vector3(0, 1, 0).transformDirection(orbit.camera.matrixWorldInverse);
      actor.compose(view.part, upward, orbit.camera.position, this.ground, width / Math.max(this.canvas.clientWidth, 1));
      this.renderer.render(actor.scene, orbit.camera);
    }
  }
}
