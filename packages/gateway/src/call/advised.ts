/**
 * Advice beside what a server says about a failure: as the last text of its result,
 * or behind the message of its error. The answer of the server itself stays as it is.
 */

import { CodedError, isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";

/** Returns advice about a text; undefined where there is none. */
type Advise = (text: string) => string | undefined;

/** Longest ordinary result that is read as a report of an error. */
const reportMaxLength = 2_000;

/** Returns what `call` returns. An error response of the server gets advice. */
export async function advisedAnswer(call: Promise<unknown>, advise: Advise): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (!isCodedError(error) || typeof error.data?.["rpcCode"] !== "number") throw error;
    const advice = advise(error.message);
    if (advice === undefined) throw error;
    const { code, message, hint, data, cause } = error;
    throw new CodedError(code, `${message}\n${advice}`, { hint, data, cause });
  }
}

/** Returns a failed result with the advice about it as its last text. */
export function withAdvice(result: JsonObject, advise: Advise): JsonObject {
  const { content, isError } = result;
  if (!Array.isArray(content)) return result;
  const text = content
    .flatMap((part) => (isJsonObject(part) && typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
  if (isError !== true && !reportsError(text)) return result;
  const advice = advise(text);
  if (advice === undefined) return result;
  const note = { type: "text", text: advice, _meta: { "toolcrib/advice": "containment" } };
  return { ...result, content: [...content, note] };
}

/** Some servers report an error as an ordinary result. */
function reportsError(text: string): boolean {
  return (
    text.length <= reportMaxLength &&
    /^\W*(?:\w+ )?(?:error|failed|exception|could not|cannot|unable)\b/i.test(text)
  );
}
