/**
 * Finds the request that a message answers without parsing the message, for a
 * message that is too large or too deep to be parsed. It reads the members at the
 * top of an object and skips everything below them, in constant memory.
 */

import type { RpcId } from "../json-rpc.ts";

const quote = 0x22;
const backslash = 0x5c;
/** Longest name or id that is read, in bytes. */
const tokenMaxBytes = 1024;

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
  #isAnswer = false;
  #isRequest = false;

  /** The id, once the message is known to be the answer to a request. */
  get answerId(): RpcId | undefined {
    return this.#isAnswer && !this.#isRequest ? this.#id : undefined;
  }

  /** Scans the next bytes. */
  write(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#isInString) {
        at = this.#readString(bytes, at);
        continue;
      }
      this.#readByte(bytes, at);
      at += 1;
    }
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
    let at = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    for (;;) {
      const found = bytes.indexOf(quote, at);
      const end = found === -1 ? bytes.length : found;
      let slashes = 0;
      while (end - slashes > at && bytes[end - slashes - 1] === backslash) slashes += 1;
      const isEscaped = slashes % 2 === 1;
      if (found === -1 || !isEscaped) {
        this.#isEscaped = found === -1 && isEscaped;
        this.#isInString = found === -1;
        const next = found === -1 ? end : end + 1;
        this.#keep(bytes, start, next);
        return next;
      }
      at = end + 1;
    }
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#depth !== 1) return;
    this.#tokenLength += end - start;
    if (this.#tokenLength > tokenMaxBytes) this.#token = [];
    else this.#token.push(Buffer.from(bytes.subarray(start, end)));
  }

  /** Ends a name or a value at the top. */
  #endToken(): void {
    const value = this.#tokenLength > tokenMaxBytes ? undefined : parse(Buffer.concat(this.#token));
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

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
