/**
 * The policy of a configuration without a gateway, for commands that ask what it
 * decides: it makes the decisions that a gateway with this configuration makes.
 */

import { formatDiagnostics } from "@toolcrib/diagnostics";
import {
  AccessPolicy,
  type ClientSettings,
  createClientAttributes,
  type Decision,
  defaultAllowedTools,
  type PolicyRequest,
  type PolicySettings,
  type PolicyTarget,
  ToolPolicy,
} from "@toolcrib/policy";
import { CedarError } from "./cedar-error.ts";
import { type CedarPolicies, openCedarPolicies } from "./cedar-policies.ts";
import { explainPolicies } from "./explain-decision.ts";
import { isBuiltIn, parsePolicyFiles } from "./live-policies.ts";
import { openPartialDecisions, type PartialDecision, type UnknownFacts } from "./partial-decisions.ts";
import type { PolicyFile } from "./policy-file.ts";

/** A policy of the files, and how its parts relate to a request. */
type ExplainedPolicy = Awaited<ReturnType<typeof explainPolicies>>[number];

/** The lists, the clients and the files of a policy. */
export interface OfflinePolicySettings extends PolicySettings {
  readonly clients: PolicySettings["clients"] & { readonly [name: string]: ClientSettings };
  readonly files: readonly PolicyFile[];
}

/** The policy of a configuration. */
export interface OfflinePolicy extends Disposable {
  /** Digest of the policies of the files, such as `sha256:…`; undefined where there are no files. */
  readonly digest: string | undefined;
  /** The policies of the files and the built-in ones, as `FILE#ID`; empty where there are no files. */
  readonly rules: readonly string[];
  decide(request: PolicyRequest): Decision;
  /** Decides a request of which some facts are not known. */
  decidePartially(request: PolicyRequest, unknown: UnknownFacts): PartialDecision;
  /** Whether a policy about the request reads arguments, so that its decision depends on them. */
  dependsOnArguments(request: PolicyRequest): boolean;
  /** The policies of the files, those that decide or would decide first. Built-in policies only where they apply. */
  explain(request: PolicyRequest): Promise<readonly ExplainedPolicy[]>;
}

/** Opens the policy of a configuration. @throws {CedarError} `POLICY_INVALID` */
export async function openOfflinePolicy(config: OfflinePolicySettings): Promise<OfflinePolicy> {
  const attributesOf = createClientAttributes(config.clients);
  using opening = new DisposableStack();
  let files: CedarPolicies | undefined;
  let partial: Awaited<ReturnType<typeof openPartialDecisions>> | undefined;
  if (config.files.length > 0) {
    const { value, diagnostics } = await parsePolicyFiles(config.files);
    if (value === undefined) throw new CedarError("POLICY_INVALID", formatDiagnostics(diagnostics));
    files = opening.use(await openCedarPolicies(value, { attributesOf }));
    partial = opening.use(await openPartialDecisions(value, { attributesOf }));
  }
  const opened = opening.move();
  const lists = new ToolPolicy(config, defaultAllowedTools);
  const policy = new AccessPolicy<PolicyTarget>(lists, { targetOf: (target) => target }, files);
  return {
    digest: files?.digest,
    rules: files?.policies.map(({ rule }) => rule) ?? [],
    decide: ({ identity, target, action, call }) =>
      policy.decide(identity, target, action, call === undefined ? undefined : () => call),
    decidePartially(request, unknown) {
      const { identity, target } = request;
      const decision = lists.decide(identity, target.id, target.wireName);
      if (decision.kind === "deny" || partial === undefined) return { kind: "decided", decision };
      return partial.decide(request, unknown);
    },
    dependsOnArguments: (request) => files?.dependsOnArguments(request) ?? false,
    async explain(request) {
      const explained = await explainPolicies(files?.policies ?? [], request, attributesOf(request.identity));
      return explained.filter(({ rule, applies }) => applies || !isBuiltIn(rule));
    },
    [Symbol.dispose]: () => opened.dispose(),
  };
}
