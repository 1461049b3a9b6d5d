/**
 * Replaces known secrets in errors and their causes, which logs and programs
 * show: messages, hints, data, stacks and fields. What cannot be searched whole is
 * not passed on.
 */

import { CodedError } from "@toolcrib/diagnostics";
import { type JsonValue, jsonSize } from "@toolcrib/json";
import type { TextScrubber } from "@toolcrib/redaction";
import { TextWalk } from "./text-walk.ts";

/**
 * Returns `error` without known secrets, including its causes; the same object if it contains none. Members of its data
 * that are too large or nested too deeply to be searched are replaced by a short text.
 */
export function scrubError(scrubber: TextScrubber, error: CodedError): CodedError {
  const message = scrubber.text(textOf(error, "message"));
  const hint = error.hint === undefined ? undefined : scrubber.text(error.hint);
  const data = error.data === undefined ? undefined : scrubData(scrubber, error.data);
  const walk = new TextWalk();
  const given = readOf(error, "cause");
  const cause = scrubCause(scrubber, given, walk);
  const isSame = message === readOf(error, "message") && hint === error.hint && data === error.data;
  // A field can have what was removed from the cause: the walk would not read it again.
  const own = cause === given ? walk : new TextWalk();
  if (isSame && isClean(scrubber, own.textsOf(error, ["cause", "data"]))) {
    // The same object keeps its class and its fields.
    if (cause !== given) error.cause = cause;
    return error;
  }
  return withStack(new CodedError(error.code, message, { hint, data, cause }), error, scrubber);
}

type Data = NonNullable<CodedError["data"]>;

/** Bytes of the data of an error as JSON: as many as `McpError` keeps of that of a server. */
const dataMaxBytes = 1_048_576;
/** Members of the data itself. */
const dataMaxMembers = 1000;
/** Characters of the name of a member that is left out. */
const dataMaxNameLength = 100;
/** Nested objects and lists in a member of the data: as many as `parseJson` accepts. */
const dataMaxDepth = 128;

function scrubData(scrubber: TextScrubber, data: Data): Data {
  const whole: [name: string, value: unknown][] = [];
  let bytesLeft = dataMaxBytes;
  let membersLeft = dataMaxMembers;
  for (const key in data) {
    const value = data[key];
    bytesLeft -= key.length + 4 + jsonSize(value as JsonValue, bytesLeft, dataMaxDepth);
    membersLeft -= 1;
    if (bytesLeft >= 0 && membersLeft >= 0) {
      whole.push([key, value]);
      continue;
    }
    // Those before it are kept: the server, and the JSON-RPC code that callers branch on.
    const name = key.length > dataMaxNameLength ? "…" : key;
    return scrubber.value(Object.fromEntries([...whole, [name, withoutSearch]]));
  }
  return scrubber.value(data);
}

/** Deepest cause that is kept; deeper ones are dropped. */
const causesMaxDepth = 10;

/** The cause in place of one that is no Error. */
const withoutSearch = "[removed: too large, or of a kind that cannot be searched for secrets]";
const withSecret = "[removed: it has a secret]";

/**
 * Returns `thrown` without known secrets; the same object if it contains none.
 *
 * @param walk of the error that it is the cause of, and that is replaced where this one is.
 */
export function scrubCause(
  scrubber: TextScrubber,
  thrown: unknown,
  walk: TextWalk = new TextWalk(),
  depth = 1,
): unknown {
  if (typeof thrown === "string") return scrubber.text(thrown);
  if (!(thrown instanceof Error)) {
    const texts = walk.textsOf(thrown);
    if (isClean(scrubber, texts)) return thrown;
    return texts === undefined ? withoutSearch : withSecret;
  }
  const given = readOf(thrown, "cause");
  const cause = depth < causesMaxDepth ? scrubCause(scrubber, given, walk, depth + 1) : undefined;
  // Any field can have one: the arguments of a program that was not found, the errors of an AggregateError.
  if (cause === given && isClean(scrubber, walk.textsOf(thrown, ["cause"]))) return thrown;
  return withStack(new Error(scrubber.text(textOf(thrown, "message")), { cause }), thrown, scrubber);
}

/** Whether texts have no known secret. @param texts undefined for what cannot be searched whole */
function isClean(scrubber: TextScrubber, texts: string | undefined): boolean {
  return texts !== undefined && scrubber.text(texts) === texts;
}

/** Gives `error` the stack of `original`. */
function withStack<One extends Error>(error: One, original: Error, scrubber: TextScrubber): One {
  const stack = textOf(original, "stack");
  if (stack !== "") error.stack = scrubber.text(stack);
  return error;
}

function textOf(error: Error, name: "message" | "stack"): string {
  const text = readOf(error, name);
  return typeof text === "string" ? text : "";
}

/** Reads what an accessor of others can define: it can throw, and return another value each time. */
function readOf(error: Error, name: "message" | "stack" | "cause"): unknown {
  try {
    return error[name];
  } catch {
    return undefined;
  }
}
