/**
 * Finds clients that policies permit nothing: with the first policy file, everything that no policy
 * permits is denied. Only the heads of policies are read, so a client that is found may use nothing for certain,
 * and one that only the conditions of every policy exclude is not found.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import type { ParsedPolicies } from "./parse-policies.ts";
import { isPartMatched, toUid } from "./policy-scope.ts";
import { scopeOf } from "./request-entities.ts";

/** A client that exists. */
export interface KnownClient {
  /** Its id in policies (`clientIdOf`). */
  readonly id: string;
  readonly roles: readonly string[];
  /** How it is known, such as `it has a token`. */
  readonly known: string;
}

/** Returns a warning for each of `clients` that no policy permits anything. One that a `forbid` names is excluded on purpose. */
export function findLockedOut(
  { policies, sources }: ParsedPolicies,
  clients: readonly KnownClient[],
): readonly Diagnostic[] {
  return clients.flatMap(({ id, roles, known }): readonly Diagnostic[] => {
    const excluded = policies.some(({ json: { effect, principal } }) => {
      if (effect !== "forbid" || principal.op !== "==" || !("entity" in principal)) return false;
      const { type, id: named } = toUid(principal.entity);
      return type === "Client" && named === id;
    });
    const identity = { issuer: "toolcrib:token", subject: id, name: id, roles: [] };
    const permitted = policies.some(({ json }) => {
      // The target is not compared.
      const target = { kind: "tool", id: "", server: { id: "" } } as Parameters<typeof scopeOf>[2];
      const scopes = ["list", "call"].map((action) => scopeOf(identity, action, target, { roles }));
      return (
        json.effect === "permit" &&
        isPartMatched(json, "principal", scopes[0] as (typeof scopes)[number]) &&
        scopes.some((scope) => isPartMatched(json, "action", scope))
      );
    });
    if (excluded || permitted) return [];
    const [source] = sources;
    return [
      {
        severity: "warning",
        code: "CEDAR_LOCKED_OUT",
        message: `The client ${JSON.stringify(id)} may use nothing: no policy permits it anything (${known})`,
        hint: `add to a policy file: permit(principal == Client::${JSON.stringify(id)}, action in Action::"use", resource);`,
        ...(source === undefined ? undefined : { source }),
      },
    ];
  });
}
