/** The routes of the operator of a gateway that have fixed paths. */

import { approvalRoutes, type OperatorApprovals } from "./approval-routes.ts";
import { changeAccess, operatorRoute } from "./operator-route.ts";
import { type OperatorPauses, pauseRoutes } from "./pause-routes.ts";
import { type OperatorPolicy, policyRoutes } from "./policy-routes.ts";
import type { ApiRoute } from "./route-access.ts";
import { type OperatorSearch, searchRoutes } from "./search-routes.ts";

/** The parts of a gateway that its operator sees and changes. */
export interface OperatorRoutesDeps {
  readonly approvals: OperatorApprovals;
  readonly pauses: OperatorPauses;
  readonly search: OperatorSearch;
  readonly policySituation: OperatorPolicy;
  /** Reads the configuration anew and applies it. @default that is not possible, and there is no route for it */
  readonly reload?: (() => Promise<object>) | undefined;
}

/** Returns the routes of approvals, of pauses, of explained searches, of the policy in force and of reloads, by their paths. */
export function operatorRoutes({ approvals, pauses, search, policySituation, reload }: OperatorRoutesDeps): {
  readonly [path: string]: ApiRoute;
} {
  return {
    ...approvalRoutes(approvals),
    ...pauseRoutes(pauses),
    ...searchRoutes(search),
    ...policyRoutes(policySituation),
    ...(reload === undefined ? {} : { "/api/v1/reload": operatorRoute(changeAccess, () => reload()) }),
  };
}
