/** Growth of typed arrays: a copy that is at least half as long again. */

export function grownUint32(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(grownLength(array.length, length));
  grown.set(array);
  return grown;
}

export function grownUint16(array: Uint16Array, length: number): Uint16Array<ArrayBuffer> {
  const grown = new Uint16Array(grownLength(array.length, length));
  grown.set(array);
  return grown;
}

export function grownUint8(array: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(grownLength(array.length, length));
  grown.set(array);
  return grown;
}

function grownLength(length: number, wanted: number): number {
  return Math.max(16, wanted, length + (length >> 1));
}
