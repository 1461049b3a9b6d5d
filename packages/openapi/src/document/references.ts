/**
 * Resolves `$ref`, within a document and to others. A reader that the caller
 * provides reads other documents between two runs of an import: a run that needs
 * an unread document notes it and continues without it, and the import runs again
 * once it was read. The length of a chain, the size of a document and the number
 * of documents are limited; a cycle ends where it closes.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { quote } from "@toolcrib/document";
import type { Findings, OpenFile, Place } from "./findings.ts";
import { isList, isMap, type Node } from "./node.ts";
import { openDocument } from "./open-document.ts";

/** Maximum number of references in one chain. */
const chainMaxLength = 50;
/** Maximum number of other documents, and the maximum length of all of them in UTF-16 code units. */
const filesMaxCount = 5000;
const filesMaxLength = 64 * 1024 * 1024;

/**
 * Reads the document that `reference` (a relative path or a URL, without fragment)
 * names in the document `from`. Returns `undefined` or throws when the document is
 * not to be read.
 */
export type ReadReference = (
  reference: string,
  from: string,
) => Promise<{ readonly name: string; readonly text: string } | undefined>;

/** A part of a document, and the document that its references are relative to. */
export interface Part {
  readonly node: Node | undefined;
  readonly file: OpenFile;
}

type Known =
  | { readonly kind: "open"; readonly file: OpenFile }
  | { readonly kind: "missing"; readonly reason: string };

/** The documents of one import. */
export class Documents {
  readonly root: OpenFile;
  readonly #known = new Map<string, Known>();
  readonly #byName: Map<string, OpenFile>;
  readonly #wanted = new Map<string, { readonly reference: string; readonly from: string }>();
  /** Length of all other documents. */
  #length = 0;

  constructor(root: OpenFile) {
    this.root = root;
    this.#byName = new Map([[root.source.name, root]]);
  }

  /** Reads the documents that the last run missed; returns `false` when there are none. */
  async load(read: ReadReference): Promise<boolean> {
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    for (const [key, { reference, from }] of wanted) {
      this.#known.set(key, await this.#loadOne(reference, from, read));
    }
    return wanted.length > 0;
  }

  /** Follows the references of `part` to the end; `node` is `undefined` when one has no target. */
  follow(part: Part, findings: Findings, place: Place): Part {
    let { node, file } = part;
    for (let hop = 0; ; hop += 1) {
      const written = isMap(node) ? node.fields.get("$ref") : undefined;
      if (typeof written !== "string") return { node, file };
      const hash = written.indexOf("#");
      const document = hash === -1 ? written : written.slice(0, hash);
      const target = this.#fileOf(document, file);
      const found =
        target?.kind === "open" && hop < chainMaxLength
          ? pointedAt(target.file.root, hash === -1 ? "" : written.slice(hash + 1))
          : undefined;
      if (found === undefined) {
        findings.report({
          code: "OPENAPI_REFERENCE",
          message: `Cannot follow $ref ${quote(written)}: ${reasonOf(target, hop)}`,
          hint: "copy the referenced part into this document",
          place,
        });
        return { node: undefined, file };
      }
      node = found;
      if (target?.kind === "open") file = target.file;
    }
  }

  #fileOf(reference: string, from: OpenFile): Known | undefined {
    if (reference === "") return { kind: "open", file: from };
    const key = JSON.stringify([reference, from.source.name]);
    const found = this.#known.get(key);
    if (found === undefined) this.#wanted.set(key, { reference, from: from.source.name });
    return found;
  }

  async #loadOne(reference: string, from: string, read: ReadReference): Promise<Known> {
    if (this.#byName.size > filesMaxCount || this.#length > filesMaxLength)
      return { kind: "missing", reason: "there are too many other documents, or they are too long" };
    try {
      const source = await read(reference, from);
      if (source === undefined) return { kind: "missing", reason: "other documents are not read" };
      const same = this.#byName.get(source.name);
      if (same !== undefined) return { kind: "open", file: same };
      this.#length += source.text.length;
      const opened = openDocument(source);
      if (opened.kind === "unreadable")
        return { kind: "missing", reason: `its document has an error: ${opened.finding.message}` };
      this.#byName.set(source.name, opened.file);
      return opened;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return { kind: "missing", reason: error.message };
    }
  }
}

function reasonOf(target: Known | undefined, hop: number): string {
  if (hop >= chainMaxLength) return "it refers to itself";
  if (target?.kind === "missing") return target.reason;
  return target === undefined ? "other documents are not read" : "its target does not exist";
}

/** Returns the target of a JSON pointer (RFC 6901) in a fragment. */
function pointedAt(root: Node, fragment: string): Node | undefined {
  if (fragment === "") return root;
  if (!fragment.startsWith("/")) return undefined;
  let node: Node | undefined = root;
  for (const step of fragment.slice(1).split("/")) {
    const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (isMap(node)) node = node.fields.get(plain) ?? node.fields.get(decoded(step));
    else if (isList(node)) node = /^(?:0|[1-9][0-9]*)$/.test(step) ? node.items[Number(step)] : undefined;
    else return undefined;
  }
  return node;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    // A percent sign that encodes nothing is literal.
    return step;
  }
}
