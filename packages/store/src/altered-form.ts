/**
 * Recognizes an export that another program stored in another form: compressed, in another encoding, or with other ends
 * of lines. Such a file differs in every line, and says nothing about whether somebody changed a record. Pure.
 */

import { lineFeed } from "./segment-end.ts";

/** A form that `audit export` does not write. */
export interface AlteredForm {
  /** What it is, as the end of a sentence. */
  readonly reason: string;
  /** How to get the export back. */
  readonly hint: string;
}

const carriageReturn = 13;

/** Forms by the bytes at their start. */
const starts: readonly (AlteredForm & { readonly bytes: readonly number[] })[] = [
  {
    bytes: [0x1f, 0x8b],
    reason: "it is compressed (gzip)",
    hint: "unpack it first, and verify the result: gunzip --keep FILE.gz",
  },
  {
    bytes: [0x28, 0xb5, 0x2f, 0xfd],
    reason: "it is compressed (zstd)",
    hint: "unpack it first, and verify the result: unzstd FILE.zst",
  },
  {
    bytes: [0x50, 0x4b, 0x03, 0x04],
    reason: "it is a ZIP archive",
    hint: "unpack it first, and verify the file in it",
  },
  {
    bytes: [0xef, 0xbb, 0xbf],
    reason: "it begins with a byte order mark (BOM), which another program added",
    hint: "verify the file as it was exported, or remove the mark: tail -c +4 FILE > exported.jsonl",
  },
  ...[
    [0xff, 0xfe],
    [0xfe, 0xff],
  ].map((bytes) => ({
    bytes,
    reason: "it is UTF-16, and an export is UTF-8: another program converted it, such as > in PowerShell",
    hint: "verify the file as it was exported: toolcrib audit export --output FILE writes it",
  })),
];

/** Returns the form of a file that begins with `start`; undefined for that of `audit export`. @param start its first line, or the beginning of it */
export function alteredFormOf(start: Buffer): AlteredForm | undefined {
  const found = starts.find(({ bytes }) => bytes.every((byte, at) => start[at] === byte));
  if (found !== undefined) return found;
  const end = start.indexOf(lineFeed);
  if (end < 1 || start[end - 1] !== carriageReturn) return undefined;
  return {
    reason: "its lines end with CRLF, which another program wrote for LF",
    hint: "verify the file as it was exported, or restore the ends of lines: tr -d '\\r' < FILE > exported.jsonl",
  };
}
