/** The route of the policy in force and what it decides about. It shows every tool, so it needs the role of an operator. */

import type { Identity } from "@toolcrib/tool";
import { operatorRoute } from "./operator-route.ts";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";

/** Returns tools, resources and prompts with the facts about them (`targets`), and the policy; with a question, also whether a limit would refuse that call now (`limit`). */
export type OperatorPolicy = (asked?: { readonly target: string; readonly identity: Identity }) => object;

/** Returns `GET /api/v1/policy/targets`, with an optional question: `?target=…&issuer=…&subject=…&name=…`. */
export function policyRoutes(situation: OperatorPolicy): { readonly [path: string]: ApiRoute } {
  return {
    "/api/v1/policy/targets": operatorRoute(operatorReadAccess, (query) => situation(questionIn(query))),
  };
}

function questionIn(query: URLSearchParams): Parameters<OperatorPolicy>[0] {
  const target = query.get("target");
  if (target === null) return undefined;
  const [issuer = "", subject = "", name = ""] = ["issuer", "subject", "name"].map(
    (key) => query.get(key) ?? "",
  );
  return { target, identity: { issuer, subject, name, roles: [] } };
}
