/** Numbers as people read them. */

/** Three digits, no noise: 0, 0.0421, 12.3, 1.2e−7. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e5) {
    const [mantissa, exponent] = value.toExponential(1).split("e");
    return `${mantissa!.replace("-", "−")}e${exponent!.replace("+", "").replace("-", "−")}`;
  }
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
  const text = value.toFixed(digits).replace("-", "−");
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** The number that someone typed, as `short` writes it or as anyone does; NaN where there is none. */
export const numberIn = (text: string): number => (text.trim() === "" ? NaN : Number(text.trim().replaceAll("−", "-").replace(",", ".")));

export const withUnit = (value: number, unit: string): string => (unit ? `${short(value)} ${unit}` : short(value));

/** A frame number of the shot: whole where it is. */
export const frameText = (frame: number): string => (Number.isInteger(frame) ? String(frame) : frame.toFixed(2));

/** '12 s', '3 min 20 s', '1 h 05 min'. */
export function duration(seconds: number): string {
  const whole = Math.max(Math.round(seconds), 0);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

/** Round steps that divide a span into about `count` parts. */
export function niceStep(span: number, count: number): number {
  const raw = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-300)));
  const share = raw / power;
  return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}
