/** Everything in a gateway that its policy decides about. */

import type { PolicyTarget } from "@toolcrib/policy";
import type { ToolIndex } from "../index/tool-index.ts";
import type { SourceRoster } from "../sources/source-roster.ts";
import { featureSubject, toTarget } from "./access-subject.ts";

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
