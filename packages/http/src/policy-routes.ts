/** The route of what the policy decides about. It shows every tool, so it needs the role of an operator. */

import { sendJson } from "@toolcrib/mcp";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";

/** Returns `GET /api/v1/policy/targets`. @param targets returns tools, resources and prompts with the facts about them */
export function policyRoutes(targets: () => readonly object[]): { readonly [path: string]: ApiRoute } {
  return {
    "/api/v1/policy/targets": {
      access: operatorReadAccess,
      async answer(response) {
        sendJson(response, 200, JSON.stringify({ targets: targets() }), { "cache-control": "no-store" });
        return undefined;
      },
    },
  };
}
