/** Routes for the operator: they answer with JSON, and with the coded error of what they did. */

import { type CodedError, isCodedError } from "@toolcrib/diagnostics";
import { sendJson } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import { type Refusal, refusalError } from "./refusal.ts";
import type { ApiRoute, RouteAccess } from "./route-access.ts";

/** For routes by which an operator changes the gateway. */
export const changeAccess: RouteAccess = { kind: "change", role: "operator", methods: ["POST"] };

/** Codes of requests that the state of the gateway does not allow. */
const stateCodes: readonly string[] = ["APPROVAL_OUTDATED", "PAUSE_INVALID", "SWITCH_INVALID"];

/** Returns a route that answers with JSON. Coded errors of `answerTo` become refusals. */
export function operatorRoute(
  access: RouteAccess,
  answerTo: (query: URLSearchParams, operator: Identity) => object | Promise<object>,
): ApiRoute {
  return {
    access,
    async answer(response, query, identity): Promise<Refusal | undefined> {
      // The access of every route requires an identity with a role.
      if (identity === undefined)
        throw new TypeError("A route for operators was reached without an identity");
      try {
        const value = await answerTo(new URLSearchParams(query), identity);
        sendJson(response, 200, JSON.stringify(value), { "cache-control": "no-store" });
        return undefined;
      } catch (error) {
        if (!isCodedError(error)) throw error;
        return { status: statusOf(error), error: refusalError(error.code, error.message, error.hint) };
      }
    },
  };
}

function statusOf({ code }: CodedError): number {
  if (code === "HTTP_QUERY_INVALID") return 400;
  return stateCodes.includes(code) ? 409 : 503;
}
