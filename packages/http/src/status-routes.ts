/**
 * The paths other than MCP: health for supervisors, metrics for Prometheus, and the
 * JSON API (`/api/v1`) that the command line reads. They never change the gateway.
 */

import { sendJson } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import type { GatewayMetrics, MeasuredStatus } from "./metrics.ts";
import { type Refusal, refusalError } from "./refusal.ts";
import {
  type ApiRoute,
  openAccess,
  operatorReadAccess,
  type RouteAccess,
  readAccess,
} from "./route-access.ts";

/** Number of configured sources, of those that made first contact, successful or not, and of those that cannot be used. */
export interface Readiness {
  readonly ready: number;
  readonly total: number;
  /** @default 0 */
  readonly unavailable?: number;
}

/** Dependencies of the routes. The status and the tools are sent as they are, as JSON. */
export interface StatusRoutesDeps {
  /** The status as `identity` may see it. */
  readonly status: (identity: Identity | undefined) => MeasuredStatus;
  /** Whether `identity` may see a server or toolspec. */
  readonly isVisible: (identity: Identity, serverId: string) => boolean;
  /** Tools that `identity` may use, independent of `serve.mode`. */
  readonly tools: (identity: Identity) => readonly object[] | Promise<readonly object[]>;
  readonly serverLog: (id: string, lines: number) => readonly string[];
  readonly readiness: () => Readiness;
  readonly metrics: GatewayMetrics;
}

const plainHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
/** Maximum number of lines of a log in one answer. @limit client */
const linesMaxCount = 10_000;
const logPath = /^\/api\/v1\/servers\/([A-Za-z0-9_.-]{1,64})\/log$/;

/** The status routes of one HTTP server. */
export class StatusRoutes {
  readonly #deps: StatusRoutesDeps;
  readonly #serverIds: () => readonly string[];
  /** Those that the metrics can name: also of packages that were removed. */
  readonly #seenIds = new Set<string>();
  readonly #isDraining: () => boolean;
  readonly #routes: ReadonlyMap<string, ApiRoute>;

  constructor(deps: StatusRoutesDeps, serverIds: () => readonly string[], isDraining: () => boolean) {
    this.#deps = deps;
    this.#serverIds = serverIds;
    this.#isDraining = isDraining;
    this.#routes = new Map([
      ["/healthz", toRoute(openAccess, () => ({ text: '{"status":"ok"}' }))],
      ["/readyz", toRoute(openAccess, () => this.#readiness())],
      ["/metrics", toRoute(readAccess, (identity) => this.#metrics(identity))],
      [
        "/api/v1/status",
        toRoute(readAccess, (identity) => ({ text: JSON.stringify(deps.status(identity)) })),
      ],
      ["/api/v1/tools", toRoute(readAccess, (identity) => this.#tools(identity))],
    ]);
  }

  /** Returns the route of `path`. */
  routeOf(path: string): ApiRoute | undefined {
    const route = this.#routes.get(path);
    if (route !== undefined) return route;
    const id = logPath.exec(path)?.[1];
    return id === undefined ? undefined : this.#logRoute(id);
  }

  #metrics(identity: Identity | undefined): Answer {
    const { metrics, status, isVisible } = this.#deps;
    for (const id of this.#serverIds()) this.#seenIds.add(id);
    return metrics.expose(status(identity), (id) => {
      return identity === undefined || !this.#seenIds.has(id) || isVisible(identity, id);
    });
  }

  #readiness(): Answer {
    const { ready, total } = this.#deps.readiness();
    // Unavailable servers do not make the gateway unready: the others work. Numbers would count hidden servers.
    const status = this.#isDraining() ? "stopping" : ready < total ? "starting" : "ready";
    return { status: status === "ready" ? 200 : 503, text: JSON.stringify({ status }) };
  }

  async #tools(identity: Identity | undefined): Promise<Answer> {
    return { text: JSON.stringify(identity === undefined ? [] : await this.#deps.tools(identity)) };
  }

  #logRoute(id: string): ApiRoute {
    return {
      // Servers write arguments of calls to their logs.
      access: operatorReadAccess,
      answer: async (response, query, identity) => {
        const visible = visibleIds(this.#serverIds(), identity, this.#deps.isVisible);
        if (!visible.includes(id)) return unknownServer(id, visible);
        const asked = new URLSearchParams(query).get("lines") ?? "100";
        const lines = /^[0-9]{1,5}$/.test(asked) ? Number(asked) : 0;
        if (lines < 1 || lines > linesMaxCount) {
          const message = `Cannot read "lines": it is a number from 1 to ${linesMaxCount}`;
          return { status: 400, error: refusalError("HTTP_QUERY_INVALID", message) };
        }
        const text = JSON.stringify({ id, lines: this.#deps.serverLog(id, lines) });
        sendJson(response, 200, text, plainHeaders);
        return undefined;
      },
    };
  }
}

/** A successful answer. */
interface Answer {
  /** @default 200 */
  readonly status?: number;
  /** @default JSON */
  readonly contentType?: string;
  readonly text: string;
}

function toRoute(
  access: RouteAccess,
  answerTo: (identity: Identity | undefined) => Answer | Promise<Answer>,
): ApiRoute {
  return {
    access,
    async answer(response, _query, identity) {
      const { status = 200, contentType, text } = await answerTo(identity);
      const headers =
        contentType === undefined ? plainHeaders : { ...plainHeaders, "content-type": contentType };
      sendJson(response, status, text, headers);
      return undefined;
    },
  };
}

/** Returns the ids that `identity` may see. */
export function visibleIds(
  serverIds: Iterable<string>,
  identity: Identity | undefined,
  isVisible: StatusRoutesDeps["isVisible"],
): readonly string[] {
  return identity === undefined ? [] : [...serverIds].filter((id) => isVisible(identity, id));
}

/**
 * Returns the 404 response for a path with an unknown server, or one that the caller may not see.
 *
 * @param serverIds the servers that the caller may see
 */
export function unknownServer(id: string, serverIds: readonly string[]): Refusal {
  return unknownName("SERVER_NOT_FOUND", "server", id, serverIds);
}

/** Returns the 404 response for a path with a profile that does not exist for the caller. @param names those that do */
export function unknownProfile(name: string, names: readonly string[]): Refusal {
  return unknownName("PROFILE_NOT_FOUND", "profile", name, names);
}

function unknownName(
  code: "SERVER_NOT_FOUND" | "PROFILE_NOT_FOUND",
  noun: string,
  name: string,
  names: readonly string[],
): Refusal {
  const known = names.slice(0, 50).join(", ");
  const hint = known === "" ? `there is no ${noun} that you may use` : `the ${noun}s are ${known}`;
  // A name that cannot be an id is not repeated.
  const shown = /^[A-Za-z0-9_.-]{1,64}$/.test(name) ? `"${name}"` : "of this name";
  return { status: 404, error: refusalError(code, `There is no ${noun} ${shown}`, hint) };
}
