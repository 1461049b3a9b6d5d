/** The scope of a policy (`principal`, `action`, `resource` in its head) against a request, without its conditions. */

import type {
  ActionConstraint,
  EntityUidJson,
  PolicyJson,
  PrincipalConstraint,
  ResourceConstraint,
} from "@cedar-policy/cedar-wasm/nodejs";

/** An entity by its type and id, and the entities that it is in. */
export interface ScopedEntity {
  readonly type: string;
  readonly id: string;
  readonly parents: readonly { readonly type: string; readonly id: string }[];
}

/** The parts of a scope, by their names in the JSON form. */
export type ScopePart = "principal" | "action" | "resource";

/** The entities of a request. */
export type ScopedRequest = { readonly [Part in ScopePart]: ScopedEntity };

/** Whether `part` of the scope of `policy` matches `request`. */
export function isPartMatched(policy: PolicyJson, part: ScopePart, request: ScopedRequest): boolean {
  return isConstraintMatched(policy[part], request[part]);
}

/** Whether the scope of `policy` matches `request`. */
export function isScopeMatched(policy: PolicyJson, request: ScopedRequest): boolean {
  return (["principal", "action", "resource"] as const).every((part) => isPartMatched(policy, part, request));
}

/** Whether a constraint on the principal or the resource matches. */
function isConstraintMatched(
  constraint: PrincipalConstraint | ResourceConstraint | ActionConstraint,
  entity: ScopedEntity,
): boolean {
  switch (constraint.op) {
    case "All":
      return true;
    case "==":
      return "entity" in constraint && isSame(toUid(constraint.entity), entity);
    case "in":
      if ("entity" in constraint) return isIn(entity, toUid(constraint.entity));
      return "entities" in constraint && constraint.entities.some((one) => isIn(entity, toUid(one)));
    case "is": {
      if (constraint.entity_type !== entity.type) return false;
      const { in: container } = constraint;
      return container === undefined || ("entity" in container && isIn(entity, toUid(container.entity)));
    }
  }
}

/** Returns an entity that a constraint names, without the wrapper that it can have. */
export function toUid(uid: EntityUidJson): { readonly type: string; readonly id: string } {
  return "__entity" in uid ? uid.__entity : uid;
}

function isIn(entity: ScopedEntity, container: { readonly type: string; readonly id: string }): boolean {
  return isSame(entity, container) || entity.parents.some((parent) => isSame(parent, container));
}

function isSame(
  a: { readonly type: string; readonly id: string },
  b: { readonly type: string; readonly id: string },
): boolean {
  return a.type === b.type && a.id === b.id;
}
