/** Everything that the policy of a running gateway decides about, for commands that explain decisions. */

import type { PolicyTarget } from "@toolcrib/policy";
import type { SecretScrubber } from "@toolcrib/redaction";
import { featureSubject, toTarget } from "./access-subject.ts";
import { type Block, blockOf, violationsOf } from "./blocked-target.ts";
import type { SourceRoster } from "./source-roster.ts";
import type { ToolIndex } from "./tool-index.ts";

/** Everything that the policy decides about. */
export interface PolicyTargets {
  /** The tools, then resources, templates and prompts of each source, with the facts that policies see. */
  readonly targets: readonly PolicyTarget[];
  /** Those of which no call is made, whatever the policy decides. */
  readonly blocked: readonly (Block & Pick<PolicyTarget, "id">)[];
}

/** Returns the tools, resources, templates and prompts, and those of which no call is made, without known secrets. */
export function policyTargetsOf(
  index: Pick<ToolIndex, "tools">,
  roster: Pick<SourceRoster, "featureSources">,
  scrubber: Pick<SecretScrubber, "value">,
): PolicyTargets {
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
  // Each source alone: the names of one cannot use up the work that is meant for those of all.
  const bySource = Map.groupBy([...index.tools, ...features], ({ source }) => source.id);
  const shown = [...bySource.values()].map((subjects) =>
    scrubber.value({
      targets: subjects.map(toTarget),
      blocked: subjects.flatMap((subject) => {
        const block = blockOf(violationsOf(subject), subject.source.id);
        return block === undefined ? [] : [{ id: subject.id, ...block }];
      }),
    }),
  );
  const isFeature = ({ kind }: PolicyTarget) => Number(kind !== "tool");
  return {
    targets: shown.flatMap(({ targets }) => targets).toSorted((a, b) => isFeature(a) - isFeature(b)),
    blocked: shown.flatMap(({ blocked }) => blocked),
  };
}
