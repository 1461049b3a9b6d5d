/**
 * JSON text to a tree. Strict JSON (RFC 8259), of a field that is given twice
 * the last one, as `JSON.parse` has it. Depth and size are bounded before
 * anything is built.
 */

import { documentMaxDepth, documentMaxNodes, type Node } from "./node.ts";
import { Unreadable } from "./unreadable.ts";

const quoted = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /(?:true|false|null)(?![\w$])/y;

/** The tree of `text`. @throws {Unreadable} */
export function readJson(text: string): Node {
  let at = 0;
  let count = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  function skip(): void {
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      at += 1;
    }
  }

  function readValue(depth: number): Node {
    count += 1;
    if (depth > documentMaxDepth) throw new Unreadable(`it nests deeper than ${documentMaxDepth} levels`, at);
    if (count > documentMaxNodes)
      throw new Unreadable(`it has more than ${documentMaxNodes.toLocaleString("en")} values`, at);
    const first = text[at];
    if (first === "{") return readMap(depth);
    if (first === "[") return readList(depth);
    if (first === '"') return readString();
    const digits = match(number);
    if (digits !== undefined) return Number(digits);
    const found = match(word);
    if (found !== undefined) return found === "null" ? null : found === "true";
    throw new Unreadable("no JSON value stands here", at, "look for a comma or bracket too many or too few");
  }

  function readString(): string {
    const found = match(quoted);
    if (found === undefined) {
      throw new Unreadable("a JSON text begins here that is not closed or holds a bad escape", at);
    }
    return found.includes("\\") ? (JSON.parse(found) as string) : found.slice(1, -1);
  }

  function readList(depth: number): Node {
    const items: Node[] = [];
    const starts: number[] = [];
    readItems("]", () => {
      starts.push(at);
      items.push(readValue(depth + 1));
    });
    return { kind: "list", items, starts };
  }

  function readMap(depth: number): Node {
    const fields = new Map<string, Node>();
    const starts: number[] = [];
    readItems("}", () => {
      if (text[at] !== '"') throw new Unreadable("a field name in double quotes belongs here", at);
      const start = at + 1;
      const key = readString();
      skip();
      if (text[at] !== ":") throw new Unreadable('":" belongs here, after the field name', at);
      at += 1;
      skip();
      const value = readValue(depth + 1);
      if (!fields.has(key)) starts.push(start);
      fields.set(key, value);
    });
    return { kind: "map", fields, starts };
  }

  function readItems(closing: string, readItem: () => void): void {
    at += 1;
    skip();
    if (text[at] !== closing) {
      for (;;) {
        readItem();
        skip();
        if (text[at] === closing) break;
        if (text[at] !== ",") throw new Unreadable(`"," or "${closing}" belongs here`, at);
        at += 1;
        skip();
      }
    }
    at += 1;
  }

  skip();
  const root = readValue(1);
  skip();
  if (at < text.length) throw new Unreadable("something follows the JSON value", at);
  return root;
}
