/** How surfaces look: a warm soft key, a cool fill, a sky, a thin rim, valleys darker and ridges lighter.
 *
 * The same studio as the project's own pictures (render/style.py), without what costs a pass of its own. Positions come
 * as 16-bit shares, so the graphics card decodes them; light adds up linearly, the sRGB curve comes last.
 */

import { Color, DoubleSide, GLSL3, RawShaderMaterial, Vector3 } from "three";
import { RAMP } from "./ramp";

export interface Paint {
  readonly front: readonly [number, number, number];
  readonly back: readonly [number, number, number];
  readonly flat: boolean;
  readonly rim: number;
  readonly sheen: number;
  readonly relief: number;
}

export const RESULT: Paint = { front: [0.77, 0.73, 0.685], back: [0.7, 0.36, 0.26], flat: false, rim: 0.14, sheen: 0.1, relief: 1 };
export const GUIDE: Paint = { front: [0.6, 0.7, 0.8], back: [0.45, 0.5, 0.66], flat: true, rim: 0.08, sheen: 0, relief: 0 };
export const OBSTACLE: Paint = { front: [0.56, 0.56, 0.555], back: [0.46, 0.46, 0.455], flat: false, rim: 0.08, sheen: 0.05, relief: 0 };

const VERTEX = /* glsl */ `
precision highp float;
in vec3 position;
in vec4 normal4;
in float value;
in vec4 tint;
uniform mat4 modelViewMatrix, projectionMatrix;
uniform vec3 low, span;
out vec3 vNormal, vPlace;
out float vRelief, vValue;
out vec4 vTint;
void main() {
  vec4 place = modelViewMatrix * vec4(low + position * span, 1.0);
  vNormal = mat3(modelViewMatrix) * normal4.xyz;
  vPlace = place.xyz;
  vRelief = normal4.w;
  vValue = value;
  vTint = tint;
  gl_Position = projectionMatrix * place;
}`;

const ramp = RAMP.map(([r, g, b]) => `vec3(${r.toFixed(3)}, ${g.toFixed(3)}, ${b.toFixed(3)})`).join(", ");

const FRAGMENT = /* glsl */ `
precision highp float;
in vec3 vNormal, vPlace;
in float vRelief, vValue;
in vec4 vTint;
uniform vec3 front, back, mark;
uniform vec2 ends;
uniform float paintBy, flatness, rim, sheen, relief, opacity, marking;
uniform vec3 upward;
out vec4 colour;
const vec3 STEPS[${RAMP.length}] = vec3[](${ramp});

vec3 heat(float share) {
  float place = clamp(share, 0.0, 1.0) * ${(RAMP.length - 1).toFixed(1)};
  int low = int(min(floor(place), ${(RAMP.length - 2).toFixed(1)}));
  return mix(STEPS[low], STEPS[low + 1], place - float(low));
}

void main() {
  vec3 n = flatness > 0.5 || dot(vNormal, vNormal) < 1e-6 ? cross(dFdx(vPlace), dFdy(vPlace)) : vNormal;
  n = normalize(n);
  vec3 eye = normalize(-vPlace);
  if (flatness > 0.5 && dot(n, eye) < 0.0) n = -n;
  float side = gl_FrontFacing ? 1.0 : -1.0;
  if (flatness < 0.5) n *= side;
  float height = dot(n, upward);
  float bend = vRelief * side;

  vec3 paint = gl_FrontFacing ? front : back;
  float shown = 0.0;
  if (paintBy > 0.5 && paintBy < 1.5 && vValue == vValue) { paint = heat((vValue - ends.x) / (ends.y - ends.x)); shown = 1.0; }
  if (paintBy > 1.5) { paint = vTint.rgb; shown = 1.0; }
  paint *= paint; // near enough to the sRGB curve, and cheap where no graphics card helps

  vec3 key = normalize(vec3(-0.70, 0.62, 0.38)), fill = normalize(vec3(0.75, 0.10, 0.45));
  float toKey = max(dot(n, key), 0.0), toFill = max(dot(n, fill), 0.0), toEye = clamp(dot(n, eye), 0.0, 1.0);
  // A wide key wraps round: what would fall into black keeps its form.
  float wrapped = mix(toKey, max(0.5 + 0.5 * dot(n, key), 0.0), 0.25);
  vec3 lit = 0.95 * wrapped * vec3(1.05, 1.0, 0.93) + 0.30 * toFill * vec3(0.93, 0.985, 1.05)
    + 0.36 * (0.70 + 0.30 * height) * vec3(0.99, 0.985, 1.04);
  // Under a scale of colours light says less, so that the colour can be read against the legend.
  lit = mix(lit, vec3(0.62 + 0.45 * dot(lit, vec3(0.33))), 0.55 * shown);
  float form = 1.0 + relief * (bend > 0.0 ? 0.20 : 0.42) * bend;
  vec3 half3 = normalize(eye + key);
  float shine = max(dot(n, half3), 0.0);
  shine *= shine; shine *= shine; shine *= shine;
  float edge = 1.0 - toEye;
  edge *= edge;
  float glint = sheen * min(4.0 * toKey, 1.0) * shine * shine * shine;
  glint += rim * edge * edge * (0.6 + 0.4 * height);
  vec3 light = paint * lit * form + glint * (1.0 - 0.7 * shown);
  // The chosen region: its own hue, and a lighter border where it ends.
  float inside = vTint.a * marking, border = smoothstep(0.02, 0.35, inside) * (1.0 - smoothstep(0.65, 0.98, inside));
  light = mix(light, light * 0.55 + 0.5 * mark * (0.45 + lit * 0.5), 0.62 * smoothstep(0.3, 0.7, inside));
  light = mix(light, mark * 1.4, 0.75 * border);
  colour = vec4(sqrt(min(light, 1.0)), opacity);
}`;

export type SurfaceMaterial = RawShaderMaterial;

/** A surface's material; one a surface, for the box of its shares is its own. */
export function surfaceMaterial(paint: Paint): SurfaceMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    side: DoubleSide,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
    uniforms: {
      low: { value: new Vector3() },
      span: { value: new Vector3(1, 1, 1) },
      front: { value: new Color(...paint.front) },
      back: { value: new Color(...paint.back) },
      mark: { value: new Color(0.05, 0.42, 0.62) },
      ends: { value: [0, 1] },
      paintBy: { value: 0 },
      flatness: { value: paint.flat ? 1 : 0 },
      rim: { value: paint.rim },
      sheen: { value: paint.sheen },
      relief: { value: paint.relief },
      opacity: { value: 1 },
      upward: { value: new Vector3(0, 1, 0) },
      marking: { value: 0 },
    },
  });
}

const LINE_VERTEX = /* glsl */ `
precision highp float;
in vec3 position;
uniform mat4 modelViewMatrix, projectionMatrix;
uniform vec3 low, span;
void main() { gl_Position = projectionMatrix * modelViewMatrix * vec4(low + position * span, 1.0); }`;

const LINE_FRAGMENT = /* glsl */ `
precision mediump float;
uniform vec3 ink;
uniform float opacity;
out vec4 colour;
void main() { colour = vec4(ink, opacity); }`;

/** Lines over a surface: its edges, or segments. Shares as the surface's own. */
export function lineMaterial(ink: readonly [number, number, number], opacity: number): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: LINE_VERTEX,
    fragmentShader: LINE_FRAGMENT,
    transparent: opacity < 1,
    depthWrite: opacity >= 1,
    uniforms: {
      low: { value: new Vector3() },
      span: { value: new Vector3(1, 1, 1) },
      ink: { value: new Color(...ink) },
      opacity: { value: opacity },
    },
  });
}

const DOT_VERTEX = /* glsl */ `
precision highp float;
in vec3 position;
uniform mat4 modelViewMatrix, projectionMatrix;
uniform float size;
void main() {
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = size;
}`;

const DOT_FRAGMENT = /* glsl */ `
precision mediump float;
uniform vec3 ink;
out vec4 colour;
void main() {
  vec2 away = gl_PointCoord - 0.5;
  float r = dot(away, away);
  if (r > 0.25) discard;
  colour = vec4(r > 0.13 ? vec3(1.0) : ink, 0.9);
}`;

/** Dots of a size on the screen, seen through everything: contact is between layers, and far smaller than a pixel. */
export function dotMaterial(ink: readonly [number, number, number]): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: DOT_VERTEX,
    fragmentShader: DOT_FRAGMENT,
    transparent: true,
    depthTest: false,
    depthWrite: false,
    uniforms: { ink: { value: new Color(...ink) }, size: { value: 6 } },
  });
}

const FLOOR_VERTEX = /* glsl */ `
precision highp float;
in vec3 position;
uniform mat4 modelViewMatrix, projectionMatrix, modelMatrix;
out vec3 vWorld;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  vWorld = world.xyz;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const FLOOR_FRAGMENT = /* glsl */ `
precision highp float;
in vec3 vWorld;
uniform vec3 ground, centre, eye;
uniform vec4 box;
uniform float radius;
uniform sampler2D shade;
out vec4 colour;
void main() {
  float away = length(vWorld.xz - centre.xz) / radius;
  float fade = 1.0 - smoothstep(0.9, 4.2, away);
  vec2 place = (vWorld.xz - box.xy) / box.zw;
  vec2 rim = smoothstep(vec2(0.0), vec2(0.08), place) * smoothstep(vec2(0.0), vec2(0.08), 1.0 - place);
  float dark = texture(shade, place).r * rim.x * rim.y;
  // Seen from below the ground is a veil.
  float veil = eye.y < vWorld.y ? 0.25 : 1.0;
  // What the shadow takes stays dark where the ground itself has faded.
  colour = vec4(ground * (1.0 - 0.62 * dark), veil * max(fade, 0.9 * dark));
}`;

/** The ground: fades into the backdrop, darker where something is near above it. */
export function floorMaterial(): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: FLOOR_VERTEX,
    fragmentShader: FLOOR_FRAGMENT,
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    uniforms: {
      ground: { value: new Color() },
      centre: { value: new Vector3() },
      eye: { value: new Vector3() },
      box: { value: [0, 0, 1, 1] },
      radius: { value: 1 },
      shade: { value: null },
    },
  });
}

const BACKDROP_VERTEX = /* glsl */ `
precision highp float;
in vec3 position;
out vec2 vPlace;
void main() { vPlace = position.xy; gl_Position = vec4(position.xy, 0.999, 1.0); }`;

const BACKDROP_FRAGMENT = /* glsl */ `
precision mediump float;
in vec2 vPlace;
uniform vec3 colour1;
out vec4 colour;
void main() { colour = vec4(colour1 * (1.03 + 0.03 * vPlace.y - 0.05 * dot(vPlace, vPlace)), 1.0); }`;

/** Behind everything: one colour, a little darker towards the corners, as a lens does. */
export function backdropMaterial(): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: BACKDROP_VERTEX,
    fragmentShader: BACKDROP_FRAGMENT,
    depthTest: false,
    depthWrite: false,
    uniforms: { colour1: { value: new Color() } },
  });
}
