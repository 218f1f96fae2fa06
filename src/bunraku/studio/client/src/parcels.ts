/** Parcels of arrays, as messages.py describes them: views into the bytes that came, nothing copied. */

import type { ArrayPlace, Parcel } from "./messages";

export type Numbers = Uint16Array | Uint32Array | Int32Array | Float32Array;

/** An array; where `low` and `high` are given it holds 16-bit shares between them, by column. */
export interface PackedArray {
  readonly data: Numbers;
  readonly shape: readonly number[];
  readonly low: readonly number[] | null;
  readonly high: readonly number[] | null;
}

export interface PackedEntry {
  readonly frame: number | null;
  readonly arrays: ReadonlyMap<string, PackedArray>;
}

const MAGIC = 0x31504b42; // "BKP1", little-endian
const KINDS = { u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array };

function placed(bytes: ArrayBuffer, start: number, place: ArrayPlace): PackedArray {
  const count = place.shape.reduce((product, size) => product * size, 1);
  return {
    data: new KINDS[place.type](bytes, start + place.offset, count),
    shape: place.shape,
    low: place.low,
    high: place.high,
  };
}

export function unpack(bytes: ArrayBuffer): PackedEntry[] {
  const head = new DataView(bytes);
  if (bytes.byteLength < 8 || head.getUint32(0, true) !== MAGIC) throw new Error("The server sent something that is no parcel.");
  const length = head.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Parcel;
  const start = Math.ceil((8 + length) / 8) * 8;
  return header.entries.map((entry) => ({
    frame: entry.frame,
    arrays: new Map(entry.arrays.map((place) => [place.name, placed(bytes, start, place)])),
  }));
}

/** Numbers (n,) or (n, c) as single precision, into `into` where it fits. */
export function numbers(array: PackedArray, into?: Float32Array): Float32Array {
  const { data, low, high } = array;
  const out = into !== undefined && into.length === data.length ? into : new Float32Array(data.length);
  if (low === null || high === null) {
    out.set(data);
    return out;
  }
  const columns = low.length;
  for (let c = 0; c < columns; c++) {
    const base = low[c]!;
    const step = (high[c]! - base) / 65535;
    for (let i = c; i < data.length; i += columns) out[i] = base + step * data[i]!;
  }
  return out;
}
