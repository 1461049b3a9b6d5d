/**
 * Tools, resources and prompts of which no call is made, whatever the policy decides, because each breaks what the operator
 * declared about its server: the governed call refuses it, and questions about the policy name it.
 */

import { findViolations, settingOf, type ToolClaims, type TrustViolation } from "@toolcrib/policy";
import type { AccessSubject } from "./access-subject.ts";
import type { SourceFacts } from "./source-facts.ts";

/** Why no call is made. */
export interface Block {
  /** That of the error of a call. */
  readonly code: "MUTABILITY_VIOLATION" | "CONTAINMENT_VIOLATION";
  /** The row of the table of rules, such as `mutability.read_only`. */
  readonly rule: string;
  /** The property of the tool, and the setting of its server. */
  readonly reason: string;
  /** The settings that would allow it. */
  readonly change: string;
}

/** A resource is read, and a prompt is fetched: neither changes anything. What else it reaches is not known. */
const featureClaims: ToolClaims = { readOnlyHint: true };

/** Returns the rules that each call of `subject` breaks, in the order of the table. */
export function violationsOf({
  facts: { trust },
  tool,
  feature,
}: Pick<AccessSubject, "tool" | "feature"> & {
  readonly facts: Pick<SourceFacts, "trust">;
}): readonly TrustViolation[] {
  if (trust === undefined) return [];
  return findViolations(trust, feature === undefined ? (tool?.definition.annotations ?? {}) : featureClaims);
}

/** Returns the reason why no call is made; undefined where calls are made. @param server the id of its server */
export function blockOf(violations: readonly TrustViolation[], server: string): Block | undefined {
  const blocking = violations.find(({ rule: { effect } }) => effect === "block");
  if (blocking === undefined) return undefined;
  const { rule, reason } = blocking;
  return {
    code: rule.event === "mutability.violation" ? "MUTABILITY_VIOLATION" : "CONTAINMENT_VIOLATION",
    rule: rule.id,
    reason: `${reason}, and its server "${server}" has ${settingOf(rule)}`,
    change: rule.remedy?.replaceAll("`", "") ?? "",
  };
}
