/** The routes of the kill switch. All need the role of an operator. */

import type { Identity } from "@toolcrib/tool";
import { changeAccess, operatorRoute } from "./operator-route.ts";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";

/** The target that the operator asks to pause or resume. */
interface Request {
  readonly kind: string;
  readonly name: string;
  readonly reason: string | undefined;
  /** Milliseconds. */
  readonly forMs: number | undefined;
}

/** The pauses of a gateway, for its operator. */
export interface OperatorPauses {
  /** Returns what is paused. */
  facts(): object;
  pause(request: Request, operator: Identity): Promise<object>;
  /** Returns whether it was paused. */
  resume(request: Request, operator: Identity): Promise<boolean>;
}

/**
 * Returns the routes: `GET /api/v1/pauses`; `POST /api/v1/pauses/pause?kind=…&name=…`, with an optional `reason=…` and
 * `seconds=…`; and `POST /api/v1/pauses/resume?kind=…&name=…`.
 */
export function pauseRoutes(pauses: OperatorPauses): { readonly [path: string]: ApiRoute } {
  const requestIn = (query: URLSearchParams): Request => ({
    kind: query.get("kind") ?? "",
    name: query.get("name") ?? "",
    reason: query.get("reason") ?? undefined,
    forMs: query.has("seconds") ? Number(query.get("seconds")) * 1000 : undefined,
  });
  return {
    "/api/v1/pauses": operatorRoute(operatorReadAccess, () => pauses.facts()),
    "/api/v1/pauses/pause": operatorRoute(changeAccess, (query, operator) =>
      pauses.pause(requestIn(query), operator),
    ),
    "/api/v1/pauses/resume": operatorRoute(changeAccess, async (query, operator) => ({
      resumed: await pauses.resume(requestIn(query), operator),
    })),
  };
}
