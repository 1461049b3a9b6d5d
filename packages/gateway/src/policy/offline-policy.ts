/**
 * The policy of a configuration without a gateway, for commands that ask what it
 * decides: it makes the decisions that a gateway with this configuration makes.
 */

import type { CedarPolicies, explainPolicies, PartialDecision, UnknownFacts } from "@toolcrib/cedar";
import type { PolicyConfig } from "@toolcrib/config";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import {
  AccessPolicy,
  createClientAttributes,
  type Decision,
  type PolicyRequest,
  type PolicyTarget,
  ToolPolicy,
} from "@toolcrib/policy";
import { GatewayError } from "../gateway-error.ts";
import { defaultAllowedTools } from "../service/meta-source.ts";

/** A policy of the files, and how its parts relate to a request. */
type ExplainedPolicy = Awaited<ReturnType<typeof explainPolicies>>[number];

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

/** Opens the policy of a configuration. @throws {GatewayError} `POLICY_INVALID` */
export async function openOfflinePolicy(config: PolicyConfig): Promise<OfflinePolicy> {
  // Loaded on demand: the engine of policy files is large.
  const cedar = await import("@toolcrib/cedar");
  const { isBuiltIn, parsePolicyFiles } = await import("./live-policies.ts");
  const attributesOf = createClientAttributes(config.clients);
  using opening = new DisposableStack();
  let files: CedarPolicies | undefined;
  let partial: Awaited<ReturnType<typeof cedar.openPartialDecisions>> | undefined;
  if (config.files.length > 0) {
    const { value, diagnostics } = await parsePolicyFiles(config.files);
    if (value === undefined) throw new GatewayError("POLICY_INVALID", formatDiagnostics(diagnostics));
    files = opening.use(await cedar.openCedarPolicies(value, { attributesOf }));
    partial = opening.use(await cedar.openPartialDecisions(value, { attributesOf }));
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
      const explained = await cedar.explainPolicies(
        files?.policies ?? [],
        request,
        attributesOf(request.identity),
      );
      return explained.filter(({ rule, applies }) => applies || !isBuiltIn(rule));
    },
    [Symbol.dispose]: () => opened.dispose(),
  };
}
