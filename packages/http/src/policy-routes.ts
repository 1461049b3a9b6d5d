/** The route of the policy in force and what it decides about. It shows every tool, so it needs the role of an operator. */

import { sendJson } from "@toolcrib/mcp";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";

/** Returns `GET /api/v1/policy/targets`. @param situation returns tools, resources and prompts with the facts about them (`targets`), and the policy */
export function policyRoutes(situation: () => object): { readonly [path: string]: ApiRoute } {
  return {
    "/api/v1/policy/targets": {
      access: operatorReadAccess,
      async answer(response) {
        sendJson(response, 200, JSON.stringify(situation()), { "cache-control": "no-store" });
        return undefined;
      },
    },
  };
}
