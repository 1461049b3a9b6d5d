/**
 * Looks in the texts of a result for sentences that are addressed to a model ("prompt injection"). A
 * finding names the place and not the text: results are not kept. The findings decide nothing, and a result
 * without findings is not known to be harmless.
 *
 * Pure. The texts come from servers: the time is limited by the length that is read.
 */

import { isJsonObject, type JsonValue } from "@toolcrib/json";
import { modelSentences } from "./model-sentences.ts";

/** A sentence in a result that is addressed to a model. */
interface ResultFinding {
  /** The instruction that was found, for people. */
  readonly message: string;
  /** Member of the result, such as `content.0.text`; its end is left out where it is long. */
  readonly path: string;
  /** Position of its first character in the text, in UTF-16 units. */
  readonly offset: number;
}

/** Characters of the texts of one result that are read. */
const inspectedMaxLength = 65_536;
/** Values of one result that are visited. */
const visitedMaxCount = 10_000;
/** Shortest text that can hold a sentence. */
const sentenceMinLength = 12;
/** Findings of one result. */
const findingsMaxCount = 10;
/** Characters of a path. */
const pathMaxLength = 200;

/** Returns the sentences in a result that are addressed to a model: of each kind the first in each text. Encoded data is not read. */
export function inspectResult(result: JsonValue): readonly ResultFinding[] {
  const findings: ResultFinding[] = [];
  const left = { characters: inspectedMaxLength, values: visitedMaxCount };
  for (const [path, text] of textsOf(result, "", left)) {
    // One space for each character, so that positions stay.
    const flat = text.slice(0, left.characters).replace(/\s/g, " ");
    left.characters -= text.length;
    for (const [message, pattern] of modelSentences) {
      const offset = flat.search(pattern);
      if (offset === -1) continue;
      findings.push({ message, path: path.slice(0, pathMaxLength), offset });
      if (findings.length === findingsMaxCount) return findings;
    }
    if (left.characters <= 0) break;
  }
  return findings;
}

/** Members that hold encoded data, and addresses. */
const unread: ReadonlySet<string> = new Set(["data", "blob", "mimeType", "_meta"]);

function* textsOf(
  value: JsonValue | undefined,
  path: string,
  left: { values: number },
): Generator<readonly [path: string, text: string]> {
  left.values -= 1;
  if (left.values < 0) return;
  if (typeof value === "string") {
    if (value.length >= sentenceMinLength) yield [path, value];
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      if (left.values < 0) return;
      yield* textsOf(item, `${path}.${at}`, left);
    }
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (left.values < 0) return;
      if (!unread.has(key)) yield* textsOf(member, path === "" ? key : `${path}.${key}`, left);
    }
  }
}
