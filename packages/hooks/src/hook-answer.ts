/**
 * The answer of a hook. Whatever is not exactly an answer is a failure, and a failure denies: a
 * member that a hook misspells must not let pass what it meant to stop. Pure.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { readJson, type TreeBuilder } from "@toolcrib/document";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  mayBeIllFormed,
  parseJson,
  toWellFormedJson,
} from "@toolcrib/json";

/** When a hook is asked. */
export type HookPhase = "before_call" | "after_call";

/** The decision of a hook. */
export type HookAnswer =
  | { readonly decision: "allow"; readonly message: string | undefined }
  | { readonly decision: "deny"; readonly message: string | undefined }
  | {
      readonly decision: "replace";
      readonly message: string | undefined;
      /** The arguments, the result or the error in place of those that it was shown. */
      readonly value: JsonObject;
    };

/** The value that a hook was shown, which it can replace. */
export type HookSubject = "arguments" | "result" | "error";

/** Limits of an answer, besides its size. */
interface AnswerLimits {
  /** Deepest nesting of an answer: that of a request of a client, and the level around it. @default 65 */
  readonly maxDepth: number;
  /** Most values of an answer. @default 250,000 */
  readonly maxValues: number;
  /** Longest message of an answer that is passed on, in UTF-16 units; the rest of a longer one is cut off. @default 2,000 */
  readonly messageMaxLength: number;
}

export const { maxDepth, maxValues, messageMaxLength }: AnswerLimits = {
  maxDepth: 65,
  maxValues: 250_000,
  messageMaxLength: 2000,
};

const decisions = ["allow", "deny", "replace"] as const;

/** Returns the answer in `text`, or why it is none as the end of a sentence. */
export function parseAnswer(text: string, subject: HookSubject): HookAnswer | string {
  let answer: JsonValue;
  try {
    // The size was limited in bytes, while the answer arrived.
    answer = parseJson(text, { maxLength: Number.POSITIVE_INFINITY, maxDepth, maxValues });
    if (mayBeIllFormed(text)) answer = toWellFormedJson(answer);
  } catch (error) {
    const code = isCodedError(error) ? error.code : undefined;
    if (code === "JSON_TOO_DEEP") return `its answer nests deeper than ${maxDepth} levels`;
    if (code === "JSON_TOO_MANY_VALUES") return `its answer has more than ${maxValues} values`;
    // The message of the engine quotes the text, which the client must not see.
    return "its answer is not valid JSON";
  }
  if (!isJsonObject(answer)) return "its answer is not a JSON object";
  const ambiguity = ambiguityOf(text);
  if (ambiguity !== undefined) return ambiguity;
  const decision = decisions.find((one) => one === answer["decision"]);
  if (decision === undefined) return "its answer has no decision that is allow, deny or replace";
  const allowed = ["decision", "message", ...(decision === "replace" ? [subject] : [])];
  const other = Object.keys(answer).find((name) => !allowed.includes(name));
  if (other !== undefined) {
    const name = JSON.stringify(shortly(other));
    return `its answer has the member ${name}, which does not belong to the decision ${decision}`;
  }
  const { message } = answer;
  if (message !== undefined && typeof message !== "string") return "the message of its answer is not a text";
  if (decision !== "replace") return { decision, message };
  const value = answer[subject];
  if (!isJsonObject(value)) return `its answer replaces, and has no object "${subject}"`;
  return { decision, message, value };
}

/** Returns why readers of JSON could understand `text` differently, as the end of a sentence. */
function ambiguityOf(text: string): string | undefined {
  let found: string | undefined;
  const builder: TreeBuilder<ReadNode, Set<string>, undefined> = {
    scalar(value, written) {
      if (typeof value === "number" && !Number.isFinite(value)) {
        found ??= `its answer has the number ${shortly(written)}, which is too large`;
      }
      return undefined;
    },
    openMap: () => new Set(),
    addField(names, name) {
      if (names.has(name)) found ??= `its answer has the member ${JSON.stringify(shortly(name))} twice`;
      names.add(name);
    },
    closeMap: () => undefined,
    openList: () => undefined,
    addItem() {},
    closeList: () => undefined,
  };
  readJson(text, builder, { noun: "answer", maxDepth, maxNodes: maxValues });
  return found;
}

/** A part of an answer that is read: only objects are remembered, by the names of their members. */
type ReadNode = Set<string> | undefined;

function shortly(text: string): string {
  return text.slice(0, 40);
}
