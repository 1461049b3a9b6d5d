/** The policy of a running gateway and everything that it decides about, for commands that explain decisions. */

import type { LivePolicies } from "@toolcrib/cedar";
import type { PolicyConfig } from "@toolcrib/config";
import type { PolicyTarget } from "@toolcrib/policy";
import type { ToolIndex } from "../index/tool-index.ts";
import type { SourceRoster } from "../sources/source-roster.ts";
import { featureSubject, toTarget } from "./access-subject.ts";

/** The policy that is in force, and what it decides about. */
export interface PolicySituation {
  readonly targets: readonly PolicyTarget[];
  /** The lists as they were when the gateway started, and the policy files with the texts that are in force. */
  readonly policy: PolicyConfig;
  /** Digest of the policies in force; absent where there are no policy files. */
  readonly digest?: string;
}

/** Returns the policy in force with `targets`. @param live the policy files; undefined where there are none */
export function policySituationOf(
  policy: PolicyConfig,
  live: LivePolicies | undefined,
  targets: readonly PolicyTarget[],
): PolicySituation {
  if (live === undefined) return { targets, policy };
  return { targets, policy: { ...policy, files: live.files }, digest: live.current.digest };
}

/** Returns the tools, resources, templates and prompts, with the facts that policies see. */
export function policyTargetsOf(
  index: Pick<ToolIndex, "tools">,
  roster: Pick<SourceRoster, "featureSources">,
): readonly PolicyTarget[] {
  const features = roster.featureSources.flatMap((source) => {
    const { resources, resourceTemplates, prompts } = source.features;
    return [
      ...resources().map(({ uri }) => featureSubject(source, "resources", String(uri))),
      ...resourceTemplates().map(({ uriTemplate }) =>
        featureSubject(source, "resources", String(uriTemplate)),
      ),
      ...prompts().map(({ name }) => featureSubject(source, "prompts", String(name))),
    ];
  });
  return [...index.tools, ...features].map(toTarget);
}
