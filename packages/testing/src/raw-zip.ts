/** Builds ZIP archives byte by byte, also such that no correct program would write. For tests only. */

import { crc32, deflateRawSync } from "node:zlib";

/** An entry, with everything that can be wrong about it. */
export interface RawEntry {
  readonly name: string | Buffer;
  readonly data?: string | Buffer;
  /** The compressed data. @default that of `data` */
  readonly packed?: Buffer;
  readonly method?: number;
  readonly flags?: number;
  readonly version?: number;
  readonly mode?: number;
  readonly extra?: Buffer;
  readonly comment?: string;
  readonly checksum?: number;
  readonly size?: number;
  /** Writes the sizes after the data, with or without the signature of the record. */
  readonly descriptor?: "signed" | "bare";
  /** The differing members of the local header. */
  readonly local?: {
    readonly name?: string;
    readonly method?: number;
    readonly size?: number;
    readonly checksum?: number;
  };
  /** Bytes before the entry. */
  readonly gap?: Buffer;
  /** Points to the data of an earlier entry, and has none. */
  readonly sameAs?: number;
  /** Is not in the directory. */
  readonly isHidden?: boolean;
}

/** Returns the archive. */
export function rawZip(
  entries: readonly RawEntry[],
  { prefix = Buffer.alloc(0), comment = "" }: { readonly prefix?: Buffer; readonly comment?: string } = {},
): Uint8Array {
  const parts: Buffer[] = [prefix];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = prefix.length;
  const push = (bytes: Buffer) => {
    parts.push(bytes);
    offset += bytes.length;
  };
  let count = 0;
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? "");
    const method = entry.method ?? 0;
    const packed = entry.packed ?? (method === 8 ? deflateRawSync(data) : data);
    const name = Buffer.from(entry.name);
    const flags = (entry.flags ?? 0x800) | (entry.descriptor === undefined ? 0 : 8);
    const checksum = entry.checksum ?? crc32(data);
    const size = entry.size ?? data.length;
    const extra = entry.extra ?? Buffer.alloc(0);
    if (entry.gap !== undefined) push(entry.gap);
    const start = entry.sameAs === undefined ? offset : offsets[entry.sameAs]!;
    offsets.push(start);
    if (entry.sameAs === undefined) {
      const localName = Buffer.from(entry.local?.name ?? name);
      const isStreamed = entry.descriptor !== undefined;
      push(
        fields(0x04034b50, [
          [2, entry.version ?? 20],
          [2, flags],
          [2, entry.local?.method ?? method],
          [4, 0x00210000],
          [4, isStreamed ? 0 : (entry.local?.checksum ?? checksum)],
          [4, isStreamed ? 0 : packed.length],
          [4, isStreamed ? 0 : (entry.local?.size ?? size)],
          [2, localName.length],
          [2, extra.length],
        ]),
      );
      push(localName);
      push(extra);
      push(packed);
      const sizes: readonly (readonly [number, number])[] = [
        [4, checksum],
        [4, packed.length],
        [4, size],
      ];
      if (entry.descriptor === "signed") push(fields(0x08074b50, sizes));
      if (entry.descriptor === "bare") push(fields(undefined, sizes));
    }
    if (entry.isHidden === true) continue;
    count += 1;
    const note = Buffer.from(entry.comment ?? "");
    directory.push(
      fields(0x02014b50, [
        [2, (3 << 8) | 20],
        [2, entry.version ?? 20],
        [2, flags],
        [2, method],
        [4, 0x00210000],
        [4, checksum],
        [4, packed.length],
        [4, size],
        [2, name.length],
        [2, extra.length],
        [2, note.length],
        [2, 0],
        [2, 0],
        [4, ((entry.mode ?? 0) << 16) >>> 0],
        [4, start],
      ]),
      name,
      extra,
      note,
    );
  }
  const directoryBytes = Buffer.concat(directory);
  const note = Buffer.from(comment);
  const end = fields(0x06054b50, [
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, directoryBytes.length],
    [4, offset],
    [2, note.length],
  ]);
  return Buffer.concat([...parts, directoryBytes, end, note]);
}

function fields(
  signature: number | undefined,
  values: readonly (readonly [bytes: number, value: number])[],
): Buffer {
  const all = signature === undefined ? values : [[4, signature] as const, ...values];
  const record = Buffer.alloc(all.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of all) {
    record.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return record;
}
