/** The first steps with a result that a hook of the operator puts in place of the result of a server: those of the result of a server. */

import type { JsonObject } from "@toolcrib/json";
import type { Era } from "@toolcrib/tool";
import { problemOfResult } from "./check-result.ts";
import { receivedResult, type Sender } from "./received.ts";

/**
 * Returns the result as it may be read, and what is wrong with its form.
 *
 * @throws {UpstreamError} `UPSTREAM_RESULT_INVALID` where two names become equal without hidden characters.
 */
export function receivedReplacement(
  result: JsonObject,
  sender: Pick<Sender, "server" | "isUntrusted">,
  { method, era }: { readonly method: string; readonly era: Era },
): { readonly received: JsonObject; readonly problem: string | undefined } {
  const received = receivedResult(result, sender, method);
  return { received, problem: problemOfAnswer(method, received, era) };
}

/** Lists that the result of each method has. */
const listsOfMethods: { readonly [method: string]: string } = {
  "resources/read": "contents",
  "prompts/get": "messages",
};

function problemOfAnswer(method: string, result: JsonObject, era: Era): string | undefined {
  if (method === "tools/call") {
    return Array.isArray(result["content"]) ? problemOfResult(result, era) : "content is not a list";
  }
  const name = listsOfMethods[method];
  if (name !== undefined && !Array.isArray(result[name])) return `${name} is not a list`;
  return undefined;
}
