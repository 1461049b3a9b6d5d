/**
 * Finds clients that policies permit nothing: with the first policy file, everything that no policy
 * permits is denied. Read are the heads of policies, and of their conditions what depends on the roles, the labels and
 * the id of the client alone. A client that is found may use nothing for certain; one that only what is not known here
 * excludes, such as a fact about a tool or an argument, is not found.
 */

import type { Expr } from "@cedar-policy/cedar-wasm/nodejs";
import type { Diagnostic } from "@toolcrib/diagnostics";
import type { ClientAttributes, PolicyTarget } from "@toolcrib/policy";
import { type CedarModule, loadCedar } from "./cedar-module.ts";
import { isTrue, type Situation } from "./explain-decision.ts";
import { conditionsOf, isVariable, memberOf, operandsOf, operationOf } from "./expressions.ts";
import type { ParsedPolicies, Policy } from "./parse-policies.ts";
import { isPartMatched, toUid } from "./policy-scope.ts";
import { clientEntities, scopeOf } from "./request-entities.ts";

/** A client that exists. */
export interface KnownClient extends ClientAttributes {
  /** Its id in policies (`clientIdOf`). */
  readonly id: string;
  /** The reason why it is known, such as `it has a token`. */
  readonly known: string;
}

/** Most conditions that are evaluated, for all clients together. Further ones count as possible. */
const maxEvaluations = 1000;

/** Returns a warning for each of `clients` that no policy permits anything. One that a `forbid` names is excluded on purpose. */
export async function findLockedOut(
  { policies, sources }: ParsedPolicies,
  clients: readonly KnownClient[],
): Promise<readonly Diagnostic[]> {
  const cedar = await loadCedar();
  const budget = { left: maxEvaluations };
  return clients.flatMap(({ id, known, ...attributes }): readonly Diagnostic[] => {
    const excluded = policies.some(({ json: { effect, principal } }) => {
      if (effect !== "forbid" || principal.op !== "==" || !("entity" in principal)) return false;
      const { type, id: named } = toUid(principal.entity);
      return type === "Client" && named === id;
    });
    const situations = ["list", "call"].map((action) => situationOfClient(id, attributes, action));
    const permitted = policies.some((policy) =>
      situations.some((situation) => canPermit(cedar, policy, situation, budget)),
    );
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

/** A request of a client. Nothing about its target and its context is known. */
function situationOfClient(id: string, attributes: ClientAttributes, action: string): Situation {
  const identity = { issuer: "toolcrib:token", subject: id, name: id, roles: [] };
  const target = { kind: "tool", id: "", server: { id: "" } } as PolicyTarget;
  return {
    scope: scopeOf(identity, action, target, attributes),
    context: {},
    entities: clientEntities(identity, attributes),
  };
}

/** Whether a policy permits something to the client of `situation`, as far as that depends on the client. */
function canPermit(
  cedar: CedarModule,
  { json }: Policy,
  situation: Situation,
  budget: { left: number },
): boolean {
  // The target is not compared.
  const isAbout = (["principal", "action"] as const).every((part) =>
    isPartMatched(json, part, situation.scope),
  );
  if (json.effect !== "permit" || !isAbout) return false;
  const canBe = (expr: Expr, value: boolean): boolean => {
    const negated = operationOf<{ readonly arg: Expr }>(expr, "!");
    if (negated !== undefined) return canBe(negated.arg, !value);
    const [both, either] = [operationOf(expr, "&&"), operationOf(expr, "||")];
    const joined = both ?? either;
    if (joined !== undefined) {
      const needsAll = (both !== undefined) === value;
      const left = canBe(joined.left, value);
      return needsAll ? left && canBe(joined.right, value) : left || canBe(joined.right, value);
    }
    if (!isAboutClient(expr) || budget.left <= 0) return true;
    budget.left -= 1;
    return isTrue(cedar, value ? expr : { "!": { arg: expr } }, situation);
  };
  return conditionsOf(json).every((expr) => canBe(expr, true));
}

/** Whether the value of `expr` follows from the id, the roles and the labels of a client. Its name and issuer are not known here. */
function isAboutClient(expr: Expr): boolean {
  const isOther = (["action", "resource", "context"] as const).some((name) => isVariable(expr, name));
  return !isOther && memberOf(expr) === undefined && operandsOf(expr).every(isAboutClient);
}
