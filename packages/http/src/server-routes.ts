/**
 * The routes of one server, toolspec or package, for the operator. They are found by the path of a request,
 * because packages are installed and removed while the gateway runs.
 */

import type { OperatorApprovals } from "./approval-routes.ts";
import { changeAccess, operatorRoute } from "./operator-route.ts";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";
import { type OperatorSwitches, switchRoutes } from "./switch-routes.ts";

/** Dependencies of the routes. */
export interface ServerRoutesDeps {
  /** Returns the ids of the servers, toolspecs and packages that there are now. */
  readonly serverIds: () => readonly string[];
  /** Releases a server from quarantine. @returns whether it was quarantined */
  readonly release: (id: string) => Promise<boolean>;
  readonly approvals: OperatorApprovals;
  readonly switches: OperatorSwitches;
}

const serverPath = /^\/api\/v1\/servers\/([A-Za-z0-9_.-]{1,256})\/(release|definitions|approve)$/;

/**
 * Returns the function that finds the route of a path: for each server `POST /api/v1/servers/ID/release`,
 * `GET /api/v1/servers/ID/definitions`, and `POST /api/v1/servers/ID/approve?digest=…`, with a `tool=…` for each
 * tool or other definition, by its name, unless all are approved; and those of `switchRoutes`.
 */
export function serverRoutes({
  serverIds,
  release,
  approvals,
  switches,
}: ServerRoutesDeps): (path: string) => ApiRoute | undefined {
  const switchRouteOf = switchRoutes(switches);
  return (path) => {
    const switching = switchRouteOf(path);
    if (switching !== undefined) return switching;
    const [, id = "", action] = serverPath.exec(path) ?? [];
    if (id === "" || !serverIds().includes(id)) return undefined;
    if (action === "release")
      return operatorRoute(changeAccess, async () => ({ id, released: await release(id) }));
    if (action === "definitions") return operatorRoute(operatorReadAccess, () => approvals.definitions(id));
    return operatorRoute(changeAccess, async (query, operator) => {
      const names = query.getAll("tool");
      const digest = query.get("digest") ?? "";
      const chosen = names.length === 0 ? undefined : names;
      return { approved: await approvals.approveDefinitions(id, digest, operator, chosen) };
    });
  };
}
