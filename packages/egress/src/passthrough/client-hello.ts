/**
 * Reads the first message of a TLS client (ClientHello, RFC 8446 section 4.1.2):
 * the name of its server (SNI), and whether it encrypts another one (ECH). The
 * message can be cut into any pieces by TCP, and into several records by TLS.
 *
 * Everything is bounded, and the work is linear in the bytes. What is not
 * exactly a ClientHello is refused: two readers that disagree about a name would
 * make the check useless. No I/O, and no decryption: nothing here is secret.
 */

/** Largest message, without its records. Those of today have 2 KiB at most, post-quantum keys included. */
const messageMaxBytes = 16_384;
/** Records that one message may be cut into. */
const recordsMaxCount = 64;
const recordMaxBytes = 16_384;
const recordHeadBytes = 5;
const messageHeadBytes = 4;

const handshakeRecord = 22;
const clientHelloMessage = 1;
const serverNameExtension = 0;
const hostNameType = 0;

/** Extensions that carry an encrypted name: ECH (0xfe0d), its drafts, and its predecessor. */
function isEncryptedName(extension: number): boolean {
  return (extension >= 0xfe08 && extension <= 0xfe0d) || extension === 0xffce;
}

/** The facts of a ClientHello. */
export interface ClientHello {
  readonly kind: "hello";
  /** The name as it was sent; undefined where none was. */
  readonly serverName: string | undefined;
  /** Whether it has an encrypted name, or pretends to have one. */
  readonly hasEncryptedName: boolean;
}

/** A message that is not a ClientHello, or not one that two readers would read alike. */
export interface InvalidHello {
  readonly kind: "invalid";
  readonly reason: string;
}

/** Collects the bytes of a client until its first message is complete. */
export class ClientHelloReader {
  readonly #head = new Uint8Array(recordHeadBytes);
  #headLength = 0;
  /** Bytes of the current record that are still missing. */
  #missing = 0;
  #records = 0;
  #message = new Uint8Array(2048);
  #length = 0;
  #result: ClientHello | InvalidHello | undefined;

  /** Adds bytes. @returns the message once it is complete; undefined before. Bytes after it are not read. */
  push(bytes: Uint8Array): ClientHello | InvalidHello | undefined {
    for (let at = 0; at < bytes.length && this.#result === undefined; ) {
      at += this.#missing > 0 ? this.#readFragment(bytes, at) : this.#readHead(bytes, at);
    }
    return this.#result;
  }

  /** Reads the head of a record: type, version and length. @returns the number of bytes that were read */
  #readHead(bytes: Uint8Array, at: number): number {
    this.#head[this.#headLength++] = bytes[at] as number;
    const [type, major = 0, , high = 0, low = 0] = this.#head;
    // The first bytes decide, so that a client of another protocol is not waited for.
    if (type !== handshakeRecord) return this.#refuse("it is not TLS");
    if (this.#headLength >= 2 && major !== 3) return this.#refuse("it is not TLS 1.0 or later");
    if (this.#headLength < recordHeadBytes) return 1;
    this.#headLength = 0;
    this.#missing = high * 256 + low;
    if (this.#missing === 0 || this.#missing > recordMaxBytes)
      return this.#refuse("a record has no valid length");
    if (++this.#records > recordsMaxCount) {
      return this.#refuse(`its first message has more than ${recordsMaxCount} records`);
    }
    return 1;
  }

  #readFragment(bytes: Uint8Array, at: number): number {
    const piece = bytes.subarray(at, at + this.#missing);
    this.#append(piece);
    this.#missing -= piece.length;
    if (this.#result !== undefined || this.#length < messageHeadBytes) return piece.length;
    const [type, high = 0, middle = 0, low = 0] = this.#message;
    if (type !== clientHelloMessage) return this.#refuse("its first message is not a ClientHello");
    const wanted = messageHeadBytes + (high * 256 + middle) * 256 + low;
    if (wanted > messageMaxBytes)
      return this.#refuse(`its ClientHello has more than ${messageMaxBytes} bytes`);
    if (this.#length < wanted) return piece.length;
    // Another message in the same record would be read by the server and not here.
    if (this.#length > wanted || this.#missing > 0)
      return this.#refuse("a record has more than the ClientHello");
    this.#result = parseClientHello(this.#message.subarray(messageHeadBytes, wanted));
    return piece.length;
  }

  #append(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > messageMaxBytes + recordMaxBytes) {
      this.#refuse(`its ClientHello has more than ${messageMaxBytes} bytes`);
      return;
    }
    if (length > this.#message.length) {
      const grown = new Uint8Array(Math.max(length, this.#message.length * 2));
      grown.set(this.#message.subarray(0, this.#length));
      this.#message = grown;
    }
    this.#message.set(piece, this.#length);
    this.#length = length;
  }

  #refuse(reason: string): number {
    this.#result = { kind: "invalid", reason };
    return 1;
  }
}

/** A position in a message. Reading behind its end marks it as invalid. */
class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;
  isInvalid = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Reads an unsigned number of `size` bytes. */
  number(size: 1 | 2): number {
    const [first = 0, second = 0] = this.bytes(size);
    return size === 1 ? first : first * 256 + second;
  }

  bytes(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) {
      this.isInvalid = true;
      this.#at = this.#bytes.length;
      return new Uint8Array(0);
    }
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** Reads a vector, whose length comes before it in `size` bytes. */
  vector(size: 1 | 2): Uint8Array {
    return this.bytes(this.number(size));
  }
}

/** Parses the message without its head. */
function parseClientHello(bytes: Uint8Array): ClientHello | InvalidHello {
  const cursor = new Cursor(bytes);
  cursor.bytes(2 + 32);
  const session = cursor.vector(1);
  const suites = cursor.vector(2);
  const compressions = cursor.vector(1);
  const isOdd =
    session.length > 32 || suites.length < 2 || suites.length % 2 === 1 || compressions.length === 0;
  if (cursor.isInvalid || isOdd) return invalid("its ClientHello is cut off");
  if (cursor.isAtEnd) return { kind: "hello", serverName: undefined, hasEncryptedName: false };
  const extensions = new Cursor(cursor.vector(2));
  if (cursor.isInvalid || !cursor.isAtEnd) return invalid("its extensions have no valid length");
  return parseExtensions(extensions);
}

function parseExtensions(extensions: Cursor): ClientHello | InvalidHello {
  const seen = new Set<number>();
  let serverName: string | undefined;
  let hasEncryptedName = false;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (extensions.isInvalid) return invalid("an extension is cut off");
    if (seen.has(type)) return invalid("it has an extension twice");
    seen.add(type);
    if (isEncryptedName(type)) hasEncryptedName = true;
    if (type !== serverNameExtension) continue;
    serverName = parseServerName(content);
    if (serverName === undefined) return invalid("the name of its server is not one name in ASCII");
  }
  return { kind: "hello", serverName, hasEncryptedName };
}

/** Reads the list of names, which has exactly one (RFC 6066 section 3). */
function parseServerName(content: Uint8Array): string | undefined {
  const list = new Cursor(content);
  const names = new Cursor(list.vector(2));
  const type = names.number(1);
  const name = names.vector(2);
  const isOne = !list.isInvalid && list.isAtEnd && !names.isInvalid && names.isAtEnd && type === hostNameType;
  if (!isOne || name.length === 0 || name.length > 255) return undefined;
  return name.every((byte) => byte > 0x20 && byte < 0x7f) ? String.fromCharCode(...name) : undefined;
}

function invalid(reason: string): InvalidHello {
  return { kind: "invalid", reason };
}
