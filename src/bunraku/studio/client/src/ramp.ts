/** Colours: the scale for numbers, those of regions, those of takes. */

/** Evenly lighter from one to the next, so that the order is told without hue, too; as in the project's own pictures. */
export const RAMP: readonly (readonly [number, number, number])[] = [
  [0.13, 0.16, 0.33],
  [0.33, 0.24, 0.47],
  [0.62, 0.31, 0.47],
  [0.86, 0.45, 0.36],
  [0.95, 0.68, 0.35],
  [0.99, 0.92, 0.66],
];

export function rampCss(): string {
  const stops = RAMP.map((rgb, i) => `rgb(${rgb.map((c) => Math.round(255 * c)).join(" ")}) ${(100 * i) / (RAMP.length - 1)}%`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** sRGB bytes of a region: hues a golden angle apart, three lightnesses, so that neighbours differ. */
export function regionColour(region: number): [number, number, number] {
  if (region < 0) return [150, 148, 144];
  const hue = (region * 137.508 + 20) % 360;
  const lightness = [0.74, 0.62, 0.82][region % 3]!;
  return oklch(lightness, 0.095, hue);
}

function oklch(l: number, chroma: number, hue: number): [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const brief = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * brief,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * brief,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * brief,
  ];
  const byte = (c: number): number => {
    const v = Math.min(Math.max(c, 0), 1);
    return Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
  };
  return [byte(linear[0]!), byte(linear[1]!), byte(linear[2]!)];
}

/** A take's colour in curves, badges and the names of views; readable on light and dark. */
export const takeColour = (number: number): string =>
  ["#c8693f", "#3f8fa8", "#8a6bbf", "#6d9440", "#bf5a86", "#a8842f"][number % 6]!;
