/**
 * Decides recorded requests of which some facts are not known, such as an argument that a record
 * shortens. A decision is made only where it is the same whatever the unknown facts are; otherwise the
 * policies and the facts that it depends on are returned. It evaluates conditions one by one, which takes
 * milliseconds: not for the path of a call.
 */

import type { Expr } from "@cedar-policy/cedar-wasm/nodejs";
import type { Decision, PolicyRequest } from "@toolcrib/policy";
import { cedarInForce, loadCedar } from "./cedar-module.ts";
import { allPolicies, CedarPolicies, type CedarPoliciesDeps } from "./cedar-policies.ts";
import { isTrue, type Situation, situationOf } from "./explain-decision.ts";
import { conditionsOf, operandsOf } from "./expressions.ts";
import type { ParsedPolicies, Policy } from "./parse-policies.ts";
import { type PolicyReads, readsOf } from "./policy-reads.ts";
import { isScopeMatched } from "./policy-scope.ts";

/** A member of the context that a record can lack. */
export type UnknownMember = "parent" | "era" | "labels" | "seen_labels";

/** The facts of a request that are not known. */
export interface UnknownFacts {
  /** Whether the value of an argument is not known, or whether it was given at all. */
  readonly isUnknown: (argument: string) => boolean;
  /** Whether any argument is not known. */
  readonly hasUnknown: boolean;
  /** Whether an argument whose value is not known is a text that policies can judge. */
  readonly isText: (argument: string) => boolean;
  /** Members of the context that are not known. */
  readonly context: ReadonlySet<UnknownMember>;
}

/** A policy whose effect depends on unknown facts. */
export interface OpenPolicy {
  readonly rule: string;
  /** The facts, such as `context.arguments.getTag("path")`. */
  readonly reads: readonly string[];
}

/** A decision, or the policies that the decision depends on. */
export type PartialDecision =
  | { readonly kind: "decided"; readonly decision: Decision }
  | { readonly kind: "open"; readonly policies: readonly OpenPolicy[] };

/** Most sets of policies without those that read unknown facts that are kept. */
const maxSubsets = 32;

/** Loads the engine. @throws {Error} when it cannot be loaded */
export async function openPartialDecisions(
  parsed: ParsedPolicies,
  deps: CedarPoliciesDeps,
): Promise<PartialDecisions> {
  await loadCedar();
  return new PartialDecisions(parsed, deps);
}

/** A policy, what it reads, and what each of its conditions reads. */
interface Reader {
  readonly policy: Policy;
  readonly reads: PolicyReads;
}

/** Decides by a set of policies. Dispose of it after the last decision. */
export class PartialDecisions implements Disposable {
  readonly #parsed: ParsedPolicies;
  readonly #deps: CedarPoliciesDeps;
  readonly #readers: readonly Reader[];
  /** Policies without some, by the rules of these. */
  readonly #subsets = new Map<string, CedarPolicies>();

  constructor(parsed: ParsedPolicies, deps: CedarPoliciesDeps) {
    this.#parsed = parsed;
    this.#deps = deps;
    this.#readers = parsed.policies.map((policy) => ({ policy, reads: readsOf([policy.json]) }));
  }

  [Symbol.dispose](): void {
    for (const subset of this.#subsets.values()) subset[Symbol.dispose]();
    this.#subsets.clear();
  }

  decide(request: PolicyRequest, unknown: UnknownFacts): PartialDecision {
    const situation = situationOf(request, this.#deps.attributesOf(request.identity));
    const open = this.#readers.filter(
      ({ policy, reads }) =>
        factsOf(reads, unknown).length > 0 && isScopeMatched(policy.json, situation.scope),
    );
    const decision = this.#without(open).decide(request);
    // A policy that forbids, or cannot be evaluated, does so whatever the others do.
    if (decision.kind === "deny" && decision.rule !== allPolicies) return { kind: "decided", decision };
    const judged = open.map((reader) => ({ reader, ...this.#judge(reader, situation, unknown) }));
    const permitting = judged.filter(
      ({ reader, mayApply }) => mayApply && reader.policy.json.effect === "permit",
    );
    if (decision.kind === "deny") {
      return permitting.length === 0 ? { kind: "decided", decision } : openBy(permitting, unknown);
    }
    const refusing = judged.filter(
      ({ reader, mayApply, mayFail }) => mayFail || (mayApply && reader.policy.json.effect === "forbid"),
    );
    return refusing.length === 0 ? { kind: "decided", decision } : openBy(refusing, unknown);
  }

  /** Returns the policies without those that read unknown facts. */
  #without(open: readonly Reader[]): CedarPolicies {
    const left = new Set(open.map(({ policy }) => policy));
    const key = JSON.stringify(open.map(({ policy }) => policy.rule));
    const known = this.#subsets.get(key);
    if (known !== undefined) return known;
    if (this.#subsets.size >= maxSubsets) this[Symbol.dispose]();
    const policies = this.#parsed.policies.filter((policy) => !left.has(policy));
    const subset = new CedarPolicies({ ...this.#parsed, policies }, this.#deps);
    this.#subsets.set(key, subset);
    return subset;
  }

  /**
   * Whether a policy can apply, and whether it can deny because it cannot be evaluated: by an argument in a form
   * that it cannot judge, or by a condition that fails.
   */
  #judge(
    { policy, reads }: Reader,
    situation: Situation,
    unknown: UnknownFacts,
  ): { readonly mayApply: boolean; readonly mayFail: boolean } {
    let mayFail = mayHaveOtherForm(reads, unknown);
    // Conditions are evaluated in their order, and the first that does not hold ends the evaluation.
    for (const expr of conditionsOf(policy.json)) {
      const alone = readsOf([{ ...policy.json, conditions: [{ kind: "when", body: expr }] }]);
      if (factsOf(alone, unknown).length > 0) mayFail ||= !isSafe(expr);
      else if (isTrue(cedarInForce(), { "!": { arg: expr } }, situation)) return { mayApply: false, mayFail };
      else if (!isTrue(cedarInForce(), expr, situation)) mayFail = true;
    }
    return { mayApply: true, mayFail };
  }
}

/** Operators that never fail in a valid policy: arithmetic can overflow, and extensions parse texts. */
const safeOperators: ReadonlySet<string> = new Set([
  ...["Value", "Var", "Set", "Record", "!", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "if-then-else"],
  ...[
    "in",
    "is",
    "has",
    "like",
    ".",
    "getTag",
    "hasTag",
    "contains",
    "containsAll",
    "containsAny",
    "isEmpty",
  ],
]);

function isSafe(expr: Expr): boolean {
  return Object.keys(expr).every((operator) => safeOperators.has(operator)) && operandsOf(expr).every(isSafe);
}

function openBy(judged: readonly { readonly reader: Reader }[], unknown: UnknownFacts): PartialDecision {
  const policies = judged.map(({ reader: { policy, reads } }) => ({
    rule: policy.rule,
    reads: factsOf(reads, unknown),
  }));
  return { kind: "open", policies };
}

/** Returns the unknown facts that are read. */
function factsOf({ texts, integers, context }: PolicyReads, unknown: UnknownFacts): readonly string[] {
  const argumentsIn = (member: string, names: ReadonlySet<string> | undefined) => {
    if (names === undefined) return unknown.hasUnknown ? [`context.${member}`] : [];
    return [...names]
      .filter(unknown.isUnknown)
      .map((name) => `context.${member}.getTag(${JSON.stringify(name)})`);
  };
  const members = [...unknown.context].filter((member) => context === undefined || context.has(member));
  return [
    ...argumentsIn("arguments", texts),
    ...argumentsIn("integers", integers),
    ...members.map((member) => `context.${member}`),
  ];
}

/** Whether an unknown argument can have a form in which a policy cannot judge it, which denies the request. */
function mayHaveOtherForm({ texts, integers }: PolicyReads, unknown: UnknownFacts): boolean {
  if (texts === undefined || integers === undefined) return unknown.hasUnknown;
  return (
    [...texts].some((name) => unknown.isUnknown(name) && !unknown.isText(name)) ||
    [...integers].some(unknown.isUnknown)
  );
}
