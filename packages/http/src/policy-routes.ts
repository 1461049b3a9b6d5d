/** The route of the policy in force and what it decides about. It shows every tool, so it needs the role of an operator. */

import type { Identity } from "@toolcrib/tool";
import { operatorRoute } from "./operator-route.ts";
import { refusalError } from "./refusal.ts";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";

/**
 * Returns tools, resources and prompts with the facts about them (`targets`), and the policy; with a question about one of
 * them, also whether a limit would refuse that call now (`limit`), and what an approval of it is bound to (`approval`).
 */
export type OperatorPolicy = (asked?: { readonly target: string; readonly identity: Identity }) => object;

const needed = ["target", "issuer", "subject"] as const;

/**
 * Returns `GET /api/v1/policy/targets`, with an optional question: `?target=…&issuer=…&subject=…&name=…`. Without `name`,
 * the subject is the name. A question without one of the others is refused with `HTTP_QUERY_INVALID`.
 */
export function policyRoutes(situation: OperatorPolicy): { readonly [path: string]: ApiRoute } {
  return {
    "/api/v1/policy/targets": operatorRoute(operatorReadAccess, (query) => situation(questionIn(query))),
  };
}

/** @throws {HttpError} `HTTP_QUERY_INVALID` */
function questionIn(query: URLSearchParams): Parameters<OperatorPolicy>[0] {
  const missing = needed.filter((name) => !query.has(name));
  if (missing.length === needed.length && !query.has("name")) return undefined;
  const [target, issuer, subject] = needed.map((name) => query.get(name) ?? undefined);
  if (target === undefined || issuer === undefined || subject === undefined)
    throw refusalError(
      "HTTP_QUERY_INVALID",
      `The question whether a limit refuses a call has no ${missing.join(" and no ")}`,
      "give target, issuer and subject, or none of them and no name",
    );
  return { target, identity: { issuer, subject, name: query.get("name") ?? subject, roles: [] } };
}
