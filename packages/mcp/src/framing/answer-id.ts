/**
 * Finds the request that a message answers without parsing the message, for a
 * message that is too large or too deep to be parsed. It reads the members at the
 * top of an object and skips everything below them, in constant memory.
 */

import { isUtf8 } from "node:buffer";
import type { RpcId } from "../json-rpc.ts";

const quote = 0x22;
const backslash = 0x5c;
/** Longest name or id that is read, in bytes. */
const tokenMaxBytes = 1024;

/** Bytes of a string in which single bytes are compared before a native search. */
const nearBytes = 64;

/** Returns the index of the next quote or backslash; the length of `bytes` if there is none. */
function nextSpecial(bytes: Buffer, start: number): number {
  const found = bytes.indexOf(quote, start);
  const end = found === -1 ? bytes.length : found;
  const slash = bytes.subarray(start, end).indexOf(backslash);
  return slash === -1 ? end : start + slash;
}

/** Scans the bytes of one message. */
export class AnswerIdScanner {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Whether the next value at the top is the name of a member. */
  #isAtName = true;
  #name = "";
  /** The bytes of the current name or value at the top. */
  #token: Buffer[] = [];
  #tokenLength = 0;
  #id: RpcId | undefined;
  /** The last id, where it comes back as it was sent. */
  #exactId: RpcId | undefined;
  #isAnswer = false;
  #isRequest = false;

  /** The id, once the message is known to be the answer to a request. */
  get answerId(): RpcId | undefined {
    return this.#isAnswer && !this.#isRequest ? this.#id : undefined;
  }

  /** The id, once the message is known to be a request. Members that follow can change it. */
  get requestId(): RpcId | undefined {
    return this.#isRequest ? this.#exactId : undefined;
  }

  /** Scans the next bytes. */
  write(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#isInString) at = this.#readString(bytes, at);
      else if (this.#depth > 1) at = this.#skipBelow(bytes, at);
      else {
        this.#readByte(bytes, at);
        at += 1;
      }
    }
  }

  /** Skips what is below the top, strings included. @returns the index of the first byte that is at the top again */
  #skipBelow(bytes: Buffer, start: number): number {
    let depth = this.#depth;
    let at = start;
    while (at < bytes.length && depth > 1) {
      const byte = bytes[at];
      at += 1;
      if (byte === quote) at = this.#endOfString(bytes, at);
      else if (byte === 0x7b || byte === 0x5b) depth += 1;
      else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    }
    this.#depth = depth;
    return Math.min(at, bytes.length);
  }

  #readByte(bytes: Buffer, at: number): void {
    switch (bytes[at]) {
      case quote:
        this.#isInString = true;
        this.#keep(bytes, at, at + 1);
        return;
      case 0x7b: // {
      case 0x5b: // [
        this.#depth += 1;
        // Members at the top of a message are those of an object, and a batch has no id of its own.
        if (this.#depth === 1 && bytes[at] === 0x5b) this.#depth += 1;
        else if (this.#depth === 2) this.#endToken();
        return;
      case 0x7d: // }
      case 0x5d: // ]
        if (this.#depth === 1) this.#endToken();
        this.#depth -= 1;
        return;
      case 0x3a: // :
        if (this.#depth === 1) this.#endToken();
        return;
      case 0x2c: // ,
        if (this.#depth !== 1) return;
        this.#endToken();
        this.#isAtName = true;
        return;
      case 0x20:
      case 0x09:
      case 0x0d:
        return;
      default:
        this.#keep(bytes, at, at + 1);
    }
  }

  /** Reads the rest of a string, or what there is of it. @returns the index after it */
  #readString(bytes: Buffer, start: number): number {
    const end = Math.min(this.#endOfString(bytes, start), bytes.length);
    this.#keep(bytes, start, end);
    return end;
  }

  /** Returns the index after the string in which `start` is, past the end of `bytes` if it continues. */
  #endOfString(bytes: Buffer, start: number): number {
    const { length } = bytes;
    let at = this.#isEscaped ? start + 1 : start;
    this.#isInString = true;
    while (at < length) {
      // A native search is fast for long texts, and slow when it is called for each of many escaped quotes.
      const near = Math.min(at + nearBytes, length);
      let byte = bytes[at];
      while (at < near && byte !== quote && byte !== backslash) {
        at += 1;
        byte = bytes[at];
      }
      if (at < near) {
        if (byte === backslash) at += 2;
        else {
          this.#isInString = false;
          break;
        }
      } else if (at < length) at = nextSpecial(bytes, at);
    }
    this.#isEscaped = this.#isInString && at > length;
    return at + (this.#isInString ? 0 : 1);
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#depth !== 1) return;
    this.#tokenLength += end - start;
    if (this.#tokenLength > tokenMaxBytes) this.#token = [];
    else this.#token.push(Buffer.from(bytes.subarray(start, end)));
  }

  /** Ends a name or a value at the top. */
  #endToken(): void {
    const token = Buffer.concat(this.#token);
    const value = this.#tokenLength > tokenMaxBytes ? undefined : parse(token);
    if (!this.#isAtName && this.#name === "id") this.#exactId = isExact(value, token) ? value : undefined;
    this.#token = [];
    this.#tokenLength = 0;
    if (this.#isAtName) {
      this.#isAtName = false;
      this.#name = typeof value === "string" ? value : "";
      if (this.#name === "result" || this.#name === "error") this.#isAnswer = true;
      if (this.#name === "method") this.#isRequest = true;
    } else if (this.#name === "id" && (typeof value === "string" || typeof value === "number")) {
      this.#id = value;
      this.#name = "";
    }
  }
}

/** Whether an id is written as the answer will write it, as `parseMessage` demands. */
function isExact(value: unknown, token: Buffer): value is RpcId {
  if (typeof value === "string") return isUtf8(token);
  return (
    typeof value === "number" &&
    Math.abs(value) <= Number.MAX_SAFE_INTEGER &&
    String(value) === token.toString("latin1")
  );
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
