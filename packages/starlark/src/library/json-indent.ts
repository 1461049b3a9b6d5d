/**
 * Indents JSON text. Strings and numbers keep their spelling; only white space
 * changes.
 */

import type { Thread } from "../run/thread.ts";
import { JsonError, JsonScanner, maxJsonDepth } from "./json-scanner.ts";
import { StringBuilder } from "./string-build.ts";

/** The start of lines. */
export interface JsonIndentation {
  /** Precedes the indentation of every line except the first. */
  readonly prefix: string;
  /** One level of indentation. */
  readonly indent: string;
}

/**
 * `text` with each element and each member on its own line.
 *
 * @throws {JsonError} if it is not JSON.
 */
export function indentJson(text: string, indentation: JsonIndentation, thread: Thread): string {
  const writer = new Indenter(text, indentation, thread);
  return writer.document();
}

class Indenter {
  readonly #scanner: JsonScanner;
  readonly #indentation: JsonIndentation;
  readonly #thread: Thread;
  readonly #text: StringBuilder;

  constructor(text: string, indentation: JsonIndentation, thread: Thread) {
    this.#scanner = new JsonScanner(text, thread);
    this.#indentation = indentation;
    this.#thread = thread;
    this.#text = new StringBuilder(thread);
  }

  document(): string {
    this.#value(0);
    this.#scanner.expectEnd();
    return this.#text.finish();
  }

  #line(level: number): void {
    const { prefix, indent } = this.#indentation;
    // Charged before the text is made, and so before the builder charges it.
    if (indent.length * level > 1000) this.#thread.charge(2 * indent.length * level);
    this.#text.add(`\n${prefix}${indent.repeat(level)}`);
  }

  #value(level: number): void {
    const scanner = this.#scanner;
    const first = scanner.next();
    const start = scanner.position;
    if (first !== 0x5b && first !== 0x7b) {
      scanner.scalar(first);
      this.#text.add(scanner.text.slice(start, scanner.position));
      return;
    }
    if (level >= maxJsonDepth) {
      throw new JsonError(start, `nests too deep: the limit is ${maxJsonDepth} levels`);
    }
    scanner.position += 1;
    if (first === 0x5b) this.#members("[", 0x5d, "]", level);
    else this.#members("{", 0x7d, "}", level);
  }

  #members(open: string, end: number, close: string, level: number): void {
    const scanner = this.#scanner;
    this.#text.add(open);
    if (scanner.next() === end) {
      scanner.position += 1;
      this.#text.add(close);
      return;
    }
    for (;;) {
      this.#line(level + 1);
      if (end === 0x7d) this.#key();
      this.#value(level + 1);
      const unit = scanner.next();
      if (unit !== 0x2c && unit !== end) {
        throw new JsonError(
          scanner.position,
          `got ${scanner.quoted(scanner.position)}, want ',' or '${close}'`,
        );
      }
      scanner.position += 1;
      if (unit === end) break;
      this.#text.add(",");
    }
    this.#line(level);
    this.#text.add(close);
  }

  #key(): void {
    const scanner = this.#scanner;
    if (scanner.next() !== 0x22) throw scanner.unexpected();
    const start = scanner.position;
    scanner.string();
    this.#text.add(scanner.text.slice(start, scanner.position));
    scanner.expectColon();
    this.#text.add(": ");
  }
}
