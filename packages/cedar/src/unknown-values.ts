/** Finds the values with which policies compare, for comparisons that never hold: the schema knows that an attribute is a text, and not which texts it can be. */

import type { Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import { attributeValues } from "./cedar-schema.ts";
import { isVariable, memberOf, operandsOf, operationOf, textOf } from "./expressions.ts";

/** A comparison with a value that the attribute never has. */
export interface UnknownValue {
  readonly attribute: string;
  readonly value: string;
  /** The values that it can have. */
  readonly values: readonly string[];
}

/** Returns the comparisons of `policy` with values that an attribute never has. */
export function findUnknownValues(policy: PolicyJson): readonly UnknownValue[] {
  const found: UnknownValue[] = [];
  const compare = (attribute: string | undefined, texts: readonly (string | undefined)[]) => {
    const values = attribute === undefined ? undefined : attributeValues[attribute];
    if (attribute === undefined || values === undefined) return;
    for (const value of texts) {
      if (value !== undefined && !values.includes(value)) found.push({ attribute, value, values });
    }
  };
  const visit = (expr: Expr) => {
    for (const operator of ["==", "!="]) {
      const compared = operationOf(expr, operator);
      if (compared === undefined) continue;
      compare(memberOf(compared.left)?.attr, [textOf(compared.right)]);
      compare(memberOf(compared.right)?.attr, [textOf(compared.left)]);
    }
    const contained = operationOf(expr, "contains");
    if (contained !== undefined) {
      const elements = operationOf<readonly Expr[]>(contained.left, "Set") ?? [];
      compare(memberOf(contained.right)?.attr, elements.map(textOf));
    }
    operandsOf(expr).forEach(visit);
  };
  for (const { body } of policy.conditions) visit(body);
  return found;
}

/** A label of data for which a policy asks. */
export interface ReadLabel {
  readonly attribute: "labels" | "seen_labels";
  readonly label: string;
}

/** Returns the labels for which `policy` asks, such as by `context.seen_labels.contains("personal")`. */
export function labelsReadBy(policy: PolicyJson): readonly ReadLabel[] {
  const found: ReadLabel[] = [];
  const visit = (expr: Expr) => {
    for (const operator of ["contains", "containsAny", "containsAll"]) {
      const asked = operationOf(expr, operator);
      const member = asked === undefined ? undefined : memberOf(asked.left);
      if (asked === undefined || member === undefined || !isVariable(member.left, "context")) continue;
      const { attr } = member;
      if (attr !== "labels" && attr !== "seen_labels") continue;
      const elements = operationOf<readonly Expr[]>(asked.right, "Set") ?? [asked.right];
      for (const label of elements.map(textOf)) {
        if (label !== undefined) found.push({ attribute: attr, label });
      }
    }
    operandsOf(expr).forEach(visit);
  };
  for (const { body } of policy.conditions) visit(body);
  return found;
}
