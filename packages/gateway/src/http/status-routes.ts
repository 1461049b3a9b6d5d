/**
 * The paths other than MCP: health for supervisors, metrics for Prometheus, and the
 * JSON API (`/api/v1`) that the command line reads. They never change the gateway.
 */

import { sendJson } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import type { GatewayStatus, ToolSummary } from "../gateway.ts";
import type { Readiness } from "../sources/source-roster.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { type Refusal, refusalError } from "./refusal.ts";
import { type ApiRoute, openAccess, readAccess } from "./route-access.ts";

/** Dependencies of the routes. */
export interface StatusRoutesDeps {
  readonly status: () => GatewayStatus;
  /** Tools that `identity` may use, independent of `serve.mode`. */
  readonly tools: (identity: Identity) => readonly ToolSummary[];
  readonly serverLog: (id: string, lines: number) => readonly string[];
  readonly readiness: () => Readiness;
  readonly metrics: GatewayMetrics;
}

const plainHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
/** Most lines of a log in one answer. */
const linesMaxCount = 10_000;
const logPath = /^\/api\/v1\/servers\/([A-Za-z0-9_.-]{1,64})\/log$/;

/** Creates a function that finds the route of a path. */
export function createStatusRoutes(
  deps: StatusRoutesDeps,
  serverIds: ReadonlySet<string>,
  isDraining: () => boolean,
): (path: string) => ApiRoute | undefined {
  const routes: { readonly [path: string]: ApiRoute } = {
    "/healthz": {
      access: openAccess,
      async answer(response) {
        sendJson(response, 200, '{"status":"ok"}', plainHeaders);
        return undefined;
      },
    },
    "/readyz": {
      access: openAccess,
      async answer(response) {
        const { ready, total } = deps.readiness();
        const status = isDraining() ? "stopping" : ready < total ? "starting" : "ready";
        const text = JSON.stringify({ status, ready, total });
        sendJson(response, status === "ready" ? 200 : 503, text, plainHeaders);
        return undefined;
      },
    },
    "/metrics": {
      access: readAccess,
      async answer(response) {
        const { contentType, text } = deps.metrics.expose(deps.status());
        sendJson(response, 200, text, { ...plainHeaders, "content-type": contentType });
        return undefined;
      },
    },
    "/api/v1/status": {
      access: readAccess,
      async answer(response) {
        sendJson(response, 200, JSON.stringify(deps.status()), plainHeaders);
        return undefined;
      },
    },
    "/api/v1/tools": {
      access: readAccess,
      async answer(response, _query, identity) {
        const tools = identity === undefined ? [] : deps.tools(identity);
        sendJson(response, 200, JSON.stringify(tools), plainHeaders);
        return undefined;
      },
    },
  };

  function logRoute(id: string): ApiRoute {
    return {
      access: readAccess,
      async answer(response, query) {
        if (!serverIds.has(id)) return unknownServer(id, serverIds);
        const asked = new URLSearchParams(query).get("lines") ?? "100";
        const lines = /^[0-9]{1,5}$/.test(asked) ? Number(asked) : 0;
        if (lines < 1 || lines > linesMaxCount) {
          const message = `Cannot read "lines": it is a number from 1 to ${linesMaxCount}`;
          return { status: 400, error: refusalError("HTTP_QUERY_INVALID", message) };
        }
        sendJson(response, 200, JSON.stringify({ id, lines: deps.serverLog(id, lines) }), plainHeaders);
        return undefined;
      },
    };
  }

  return (path) => {
    if (Object.hasOwn(routes, path)) return routes[path];
    const id = logPath.exec(path)?.[1];
    return id === undefined ? undefined : logRoute(id);
  };
}

/** Returns the 404 response for a path with an unknown server. */
export function unknownServer(id: string, serverIds: ReadonlySet<string>): Refusal {
  const ids = [...serverIds].slice(0, 50).join(", ");
  const hint = ids === "" ? "no tool server is configured" : `the servers are ${ids}`;
  // A name that cannot be an id is not repeated.
  const name = /^[A-Za-z0-9_.-]{1,64}$/.test(id) ? `"${id}"` : "of this name";
  return { status: 404, error: refusalError("SERVER_NOT_FOUND", `There is no server ${name}`, hint) };
}
