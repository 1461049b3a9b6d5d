/**
 * Messages of DNS (RFC 1035), as far as a resolver for one program needs them: it
 * reads one question and writes an answer of at most one address. Pure and bounded.
 * It copies the question as it is, follows no pointer, and reads nothing after it.
 */

/** Largest query: that of DNS over UDP without extensions. */
export const queryMaxBytes = 512;

const headBytes = 12;
const nameMaxBytes = 255;
const labelMaxBytes = 63;

/** Types of records. */
export const recordTypes = { A: 1 } as const;

/** Codes of answers (RFC 1035 section 4.1.1). */
export const answerCodes = { done: 0, malformed: 1, noSuchName: 3, notImplemented: 4, refused: 5 } as const;

/** A question. */
export interface DnsQuery {
  readonly id: number;
  /** `undefined` where the message has no question that can be read; the rest is then empty. */
  readonly question:
    | {
        /** In lower case, without the dot at the end; characters that no host has are `?`. */
        readonly name: string;
        readonly type: number;
        /** Whether it asks for the class of the Internet. */
        readonly isInternet: boolean;
        /** Its bytes. */
        readonly bytes: Uint8Array;
      }
    | undefined;
  /** Whether it is an ordinary query, and not an update or a notification. */
  readonly isStandard: boolean;
  readonly wantsRecursion: boolean;
}

/** Parses a query. @returns undefined for what deserves no answer: another answer, or less than a head */
export function parseDnsQuery(bytes: Uint8Array): DnsQuery | undefined {
  if (bytes.length < headBytes || bytes.length > queryMaxBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint16(2);
  // Answering an answer could go on for ever.
  if ((flags & 0x8000) !== 0) return undefined;
  const question = view.getUint16(4) === 1 ? parseQuestion(bytes, view) : undefined;
  return {
    id: view.getUint16(0),
    question,
    isStandard: (flags & 0x7800) === 0,
    wantsRecursion: (flags & 0x0100) !== 0,
  };
}

function parseQuestion(bytes: Uint8Array, view: DataView): DnsQuery["question"] {
  const labels: string[] = [];
  let at = headBytes;
  for (;;) {
    const length = bytes[at++];
    if (length === undefined || length > labelMaxBytes || at - headBytes > nameMaxBytes) return undefined;
    if (length === 0) break;
    const label = bytes.subarray(at, at + length);
    if (label.length < length) return undefined;
    labels.push(showLabel(label));
    at += length;
  }
  if (at - headBytes > nameMaxBytes || at + 4 > bytes.length) return undefined;
  return {
    name: labels.join("."),
    type: view.getUint16(at),
    isInternet: view.getUint16(at + 2) === 1,
    bytes: bytes.slice(headBytes, at + 4),
  };
}

function showLabel(label: Uint8Array): string {
  return Array.from(label, (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9_-]/.test(character) ? character.toLowerCase() : "?";
  }).join("");
}

/** Seconds that a program may keep an answer. */
const lifetimeSeconds = 30;

/**
 * Writes the answer to a query.
 *
 * @param address four numbers; without it, the answer has no record
 */
export function writeDnsAnswer(
  { id, question, wantsRecursion, isStandard }: DnsQuery,
  code: number,
  address?: readonly number[],
): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(id, 0);
  // An authoritative answer, with recursion where it was wanted: there is nobody else to ask.
  head.writeUInt16BE(0x8000 | (isStandard ? 0x0400 : 0) | (wantsRecursion ? 0x0180 : 0) | code, 2);
  head.writeUInt16BE(question === undefined ? 0 : 1, 4);
  head.writeUInt16BE(address === undefined ? 0 : 1, 6);
  const record = Buffer.alloc(12);
  // The name of the record is that of the question, at offset 12.
  record.writeUInt16BE(0xc000 | headBytes, 0);
  record.writeUInt16BE(recordTypes.A, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(lifetimeSeconds, 6);
  record.writeUInt16BE(4, 10);
  return Buffer.concat([
    head,
    question?.bytes ?? new Uint8Array(0),
    ...(address === undefined ? [] : [record, Uint8Array.from(address)]),
  ]);
}
