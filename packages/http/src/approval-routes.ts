/** The routes of approvals: what waits for the operator, and the decisions. All need the role of an operator. */

import { type CodedError, isCodedError } from "@toolcrib/diagnostics";
import { sendJson } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import { type Refusal, refusalError } from "./refusal.ts";
import { type ApiRoute, operatorReadAccess, type RouteAccess } from "./route-access.ts";

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

const changeAccess: RouteAccess = { kind: "change", role: "operator", methods: ["POST"] };
const callPath = "/api/v1/approvals/calls";

/**
 * Returns the routes: `GET /api/v1/approvals`; for each server `GET /api/v1/servers/ID/definitions` and
 * `POST /api/v1/servers/ID/approve?digest=…`, with a `tool=…` for each tool unless all are approved; and
 * `GET /api/v1/approvals/calls?id=…`, and `POST /api/v1/approvals/calls/approve?id=…`, `…/deny?id=…`.
 */
export function approvalRoutes(
  serverIds: readonly string[],
  approvals: OperatorApprovals,
): { readonly [path: string]: ApiRoute } {
  const routes = serverIds.flatMap((id): [string, ApiRoute][] => [
    [`/api/v1/servers/${id}/definitions`, toRoute(operatorReadAccess, () => approvals.definitions(id))],
    [
      `/api/v1/servers/${id}/approve`,
      toRoute(changeAccess, async (query, operator) => {
        const tools = query.getAll("tool");
        const digest = query.get("digest") ?? "";
        const chosen = tools.length === 0 ? undefined : tools;
        return { approved: await approvals.approveDefinitions(id, digest, operator, chosen) };
      }),
    ],
  ]);
  const decide = (decision: "approved" | "denied") =>
    toRoute(changeAccess, async (query, operator) => ({
      call: (await approvals.decideCall(query.get("id") ?? "", decision, operator)) ?? null,
    }));
  return {
    "/api/v1/approvals": toRoute(operatorReadAccess, () => approvals.waiting()),
    [callPath]: toRoute(operatorReadAccess, async (query) => ({
      call: (await approvals.call(query.get("id") ?? "")) ?? null,
    })),
    [`${callPath}/approve`]: decide("approved"),
    [`${callPath}/deny`]: decide("denied"),
    ...Object.fromEntries(routes),
  };
}

/** Returns a route that answers with JSON. Coded errors of `answerTo` become refusals. */
function toRoute(
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

function statusOf(error: CodedError): number {
  return error.code === "APPROVAL_OUTDATED" ? 409 : 503;
}
