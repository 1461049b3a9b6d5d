/** The routes of approvals: what waits for the operator, and the decisions. All need the role of an operator. */

import type { Identity } from "@toolcrib/tool";
import { changeAccess, operatorRoute } from "./operator-route.ts";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";

/** The approvals of a gateway, for its operator. */
export interface OperatorApprovals {
  /** Returns everything that waits. */
  waiting(): Promise<object>;
  /** Returns a call that waits with all of its arguments; undefined when no call with this id waits. */
  call(id: string): Promise<object | undefined>;
  /** Returns the definitions of a server that wait. */
  definitions(server: string): object;
  /** Approves definitions of a server, and returns the names of the tools. @param tools those to approve. @default all */
  approveDefinitions(
    server: string,
    digest: string,
    operator: Identity,
    tools?: readonly string[],
  ): Promise<readonly string[]>;
  /** Decides about a call that waits, and returns it; undefined when no call with this id waits. */
  decideCall(id: string, decision: "approved" | "denied", operator: Identity): Promise<object | undefined>;
}

const callPath = "/api/v1/approvals/calls";

/**
 * Returns the routes: `GET /api/v1/approvals`, `GET /api/v1/approvals/calls?id=…`, and
 * `POST /api/v1/approvals/calls/approve?id=…`, `…/deny?id=…`. Those of definitions are `serverRoutes`.
 */
export function approvalRoutes(approvals: OperatorApprovals): { readonly [path: string]: ApiRoute } {
  const decide = (decision: "approved" | "denied") =>
    operatorRoute(changeAccess, async (query, operator) => ({
      call: (await approvals.decideCall(query.get("id") ?? "", decision, operator)) ?? null,
    }));
  return {
    "/api/v1/approvals": operatorRoute(operatorReadAccess, () => approvals.waiting()),
    [callPath]: operatorRoute(operatorReadAccess, async (query) => ({
      call: (await approvals.call(query.get("id") ?? "")) ?? null,
    })),
    [`${callPath}/approve`]: decide("approved"),
    [`${callPath}/deny`]: decide("denied"),
  };
}
