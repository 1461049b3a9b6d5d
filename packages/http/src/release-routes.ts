/** The routes that release servers from quarantine. They change the gateway, so they need the role of an operator. */

import { sendJson } from "@toolcrib/mcp";
import type { ApiRoute } from "./route-access.ts";

/** Returns one route for each server. @param release returns whether the server was quarantined */
export function releaseRoutes(
  serverIds: readonly string[],
  release: (id: string) => Promise<boolean>,
): { readonly [path: string]: ApiRoute } {
  const routes = serverIds.map((id): [string, ApiRoute] => [
    `/api/v1/servers/${id}/release`,
    {
      access: { kind: "change", role: "operator", methods: ["POST"] },
      async answer(response) {
        sendJson(response, 200, JSON.stringify({ id, released: await release(id) }), {
          "cache-control": "no-store",
        });
        return undefined;
      },
    },
  ]);
  return Object.fromEntries(routes);
}
