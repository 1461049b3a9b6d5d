/** The route of explained searches. They are those of the operator who asks, with the words that count for it. */

import type { Identity } from "@toolcrib/tool";
import { operatorRoute } from "./operator-route.ts";
import { type ApiRoute, operatorReadAccess } from "./route-access.ts";

/** Returns the hits of a search with the parts of their scores. */
export type OperatorSearch = (operator: Identity, query: string, limit: number) => Promise<readonly object[]>;

/** Hits of one search, as of `search_tools`. @limit client */
const hitsMaxCount = 50;
/** Characters of a query, as of `search_tools`. @limit client */
const queryMaxChars = 2000;

/** Returns `GET /api/v1/search?query=…&limit=…`. */
export function searchRoutes(search: OperatorSearch): { readonly [path: string]: ApiRoute } {
  return {
    "/api/v1/search": operatorRoute(operatorReadAccess, (query, operator) => {
      const limit = Math.trunc(Number(query.get("limit") ?? 10));
      const text = (query.get("query") ?? "").slice(0, queryMaxChars);
      return search(operator, text, Math.min(hitsMaxCount, Math.max(1, limit || 1)));
    }),
  };
}
