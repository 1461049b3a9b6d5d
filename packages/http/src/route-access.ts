/**
 * The routes of the JSON API and the one rule that decides who may use them.
 *
 * A route declares its access. A route that reads is for every authenticated
 * caller, unless other clients could have written what it reads; a route that
 * changes the gateway names the role that it needs. A token of the home has no role,
 * so that it never changes the gateway; claims of a JWT give one where the configuration says so.
 */

import type { HttpResponse } from "@toolcrib/mcp";
import { hasRole, type Identity } from "@toolcrib/tool";
import { type Refusal, refusalError } from "./refusal.ts";

/** The callers and methods that a route accepts. */
export type RouteAccess =
  /** Reads, and needs no token. `hasForm`: takes forms, too, which prove by themselves who sends them. */
  | { readonly kind: "open"; readonly hasForm?: boolean }
  /** Reads, for every authenticated caller, or for those with `role` or a higher one. */
  | { readonly kind: "read"; readonly role?: "operator" }
  /** Changes the gateway with one of `methods`, for callers with `role` or a higher one. */
  | {
      readonly kind: "change";
      readonly role: "operator" | "admin";
      readonly methods: readonly ("POST" | "PUT" | "PATCH" | "DELETE")[];
    };

/** A path other than MCP, with its access and its answer. */
export interface ApiRoute {
  readonly access: RouteAccess;
  /** Answers `identity`, which is undefined for an open route, or returns a refusal. @param query the part of the URL after the `?` */
  answer(response: HttpResponse, query: string, identity: Identity | undefined): Promise<Refusal | undefined>;
}

export const openAccess: RouteAccess = { kind: "open" };
export const readAccess: RouteAccess = { kind: "read" };
/** For what the calls of other clients can contain. */
export const operatorReadAccess: RouteAccess = { kind: "read", role: "operator" };

type Role = Identity["roles"][number];

/** Returns the refusal of a request that `access` does not allow, otherwise `undefined`. */
export function decideAccess(
  access: RouteAccess,
  method: string | undefined,
  identity: Identity | undefined,
): Refusal | undefined {
  const methods: readonly string[] = access.kind === "change" ? access.methods : readingMethods(access);
  if (method === undefined || !methods.includes(method)) return methodNotAllowed(methods.join(", "));
  const role = access.kind === "open" ? undefined : access.role;
  return role === undefined || hasRole(identity?.roles ?? [], role) ? undefined : roleRequired(role);
}

function readingMethods(access: Exclude<RouteAccess, { kind: "change" }>): readonly string[] {
  return access.kind === "open" && access.hasForm === true ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"];
}

/** The refusal for a method that a path does not accept. */
export function methodNotAllowed(allow: string): Refusal {
  const error = refusalError("HTTP_METHOD_NOT_ALLOWED", `This path takes ${allow} only`);
  return { status: 405, error, headers: { allow } };
}

function roleRequired(role: Role): Refusal {
  const error = refusalError(
    "HTTP_ROLE_REQUIRED",
    `This route needs the role "${role}", which this client does not have`,
    "use the toolcrib command on the machine of the gateway, as the user who runs it",
  );
  return { status: 403, error };
}
