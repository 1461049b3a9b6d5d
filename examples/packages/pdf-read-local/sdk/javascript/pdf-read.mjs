/**
 * Extracts the text of a simple PDF: pages whose content streams are plain or compressed with
 * Flate, with text in the standard encoding. It follows no cross-reference table, reads no
 * encrypted document and decodes no font of its own.
 */

import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";

const fileMaxBytes = 64 * 1024 * 1024;
const streamMaxBytes = 16 * 1024 * 1024;

function main() {
  const { path } = JSON.parse(process.argv.at(-1));
  const bytes = readFileSync(path);
  if (bytes.length > fileMaxBytes) throw new Error(`${path} has more than ${fileMaxBytes} bytes`);
  const text = bytes.toString("latin1");
  if (!text.startsWith("%PDF-")) throw new Error(`${path} is not a PDF`);
  const objects = objectsOf(text);
  const pages = [...objects.values()]
    .filter(({ head }) => /\/Type\s*\/Page\b/.test(head))
    .map((page) => contentOf(page, objects));
  console.log(JSON.stringify({ content: pages.join("\n"), pages }));
}

/** Objects by their numbers: the text before a stream, and the stream. */
function objectsOf(text) {
  const objects = new Map();
  for (const [, number, body] of text.matchAll(/(?:^|[\r\n])(\d+) 0 obj\b([\s\S]*?)\bendobj/g)) {
    const stream = /\bstream\r?\n([\s\S]*?)\r?\n?endstream/.exec(body);
    const head = stream === null ? body : body.slice(0, stream.index);
    objects.set(Number(number), { head, stream: stream?.[1] });
  }
  return objects;
}

function contentOf({ head }, objects) {
  const references = /\/Contents\s*(\[[^\]]*\]|\d+ 0 R)/.exec(head)?.[1] ?? "";
  const streams = [...references.matchAll(/(\d+) 0 R/g)].map(([, number]) => streamOf(objects.get(Number(number))));
  return textOf(streams.join("\n"));
}

function streamOf(object) {
  if (object?.stream === undefined) return "";
  if (!object.head.includes("/FlateDecode")) return object.stream;
  const bytes = Buffer.from(object.stream, "latin1");
  return inflateSync(bytes, { maxOutputLength: streamMaxBytes }).toString("latin1");
}

/** Follows the operators that show text and begin a line. */
function textOf(content) {
  const token = /\((?:\\[\s\S]|[^\\()])*\)|\[(?:\((?:\\[\s\S]|[^\\()])*\)|[^\]])*\]|[A-Za-z'"*]+|[-\d.]+/g;
  let text = "";
  let last = "";
  for (const [part] of content.matchAll(token)) {
    if (part === "Tj" || part === "TJ") text += shown(last);
    else if (part === "'" || part === '"') text += `\n${shown(last)}`;
    else if (part === "T*" || part === "Td" || part === "TD") text += text === "" ? "" : "\n";
    else if (part.startsWith("(") || part.startsWith("[")) last = part;
  }
  return text;
}

function shown(operand) {
  const strings = operand.match(/\((?:\\[\s\S]|[^\\()])*\)/g) ?? [];
  return strings.map((one) => unescaped(one.slice(1, -1))).join("");
}

const escapes = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

function unescaped(text) {
  return text.replace(/\\([0-7]{1,3}|[\s\S])/g, (_all, code) =>
    /^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
  );
}

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
