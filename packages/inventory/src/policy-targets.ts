/** Everything that the policy of a running gateway decides about, for commands that explain decisions. */

import type { PolicyTarget } from "@toolcrib/policy";
import { featureSubject, toTarget } from "./access-subject.ts";
import type { SourceRoster } from "./source-roster.ts";
import type { ToolIndex } from "./tool-index.ts";

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
