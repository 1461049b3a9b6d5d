/**
 * Settings of JetBrains IDEs: XML whose elements have names and values in attributes. Reads elements and attributes
 * with their places; comments and texts are skipped. There are no entities but those of XML itself: a document type,
 * which could define others or name files, is an error. Pure.
 */

import { syntaxError } from "./server-place.ts";

/** An element. */
export interface XmlElement {
  readonly name: string;
  /** Its place, as an offset in the text. */
  readonly at: number;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
}

/** Deepest nesting. */
const maxDepth = 100;

/** Tokens that are no text: comments, instructions, texts as they are, end tags and start tags. */
const token =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<\/\s*([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const attribute = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const entity = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,20}));|&/gi;
const entities: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

interface OpenElement extends XmlElement {
  readonly children: XmlElement[];
}

/** Returns the root element of a text. @throws {ClientsError} */
export function parseXml(text: string): XmlElement {
  const fail = (at: number, reason: string) => syntaxError(text, at, reason, "XML");
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at)) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (match === null) throw fail(at, "it is no tag, or one without its end");
    const [, ended, name, attributes = "", isEmpty] = match;
    const parent = open.at(-1);
    if (ended !== undefined) {
      if (parent?.name !== ended) throw fail(at, `</${ended}> ends no open element`);
      open.pop();
    } else if (name !== undefined) {
      if (parent === undefined && root !== undefined) throw fail(at, "there is a second root element");
      if (open.length >= maxDepth) throw fail(at, "elements are nested too deeply");
      const element = {
        name,
        at,
        attributes: attributesOf(attributes, (reason) => fail(at, reason)),
        children: [],
      };
      if (parent === undefined) root = element;
      else parent.children.push(element);
      if (isEmpty === "") open.push(element);
    }
    at += match[0].length;
  }
  const last = open.at(-1);
  if (last !== undefined) throw fail(last.at, `<${last.name}> has no end`);
  if (root === undefined) throw fail(0, "it contains no element");
  return root;
}

function attributesOf(text: string, fail: (reason: string) => Error): ReadonlyMap<string, string> {
  const found = [...text.matchAll(attribute)].map(([, name = "", double, single]): [string, string] => [
    name,
    decoded(double ?? single ?? "", fail),
  ]);
  return new Map(found);
}

function decoded(text: string, fail: (reason: string) => Error): string {
  return text.replace(entity, (whole, decimal?: string, hex?: string, name?: string) => {
    const code =
      decimal === undefined ? (hex === undefined ? undefined : Number.parseInt(hex, 16)) : Number(decimal);
    const character =
      code === undefined
        ? entities.get(name ?? "")
        : code <= 0x10ffff
          ? String.fromCodePoint(code)
          : undefined;
    if (character === undefined) throw fail(`${JSON.stringify(whole)} is no character`);
    return character;
  });
}
