/** Opens what searches learn from uses. */

import type { GatewayConfig } from "@toolcrib/config";
import { clientKeysOf } from "@toolcrib/config-changes";
import { SearchLearning } from "@toolcrib/learning";
import type { SecretScrubber } from "@toolcrib/redaction";

type LearningDeps = Parameters<typeof SearchLearning.open>[1];

/** @returns undefined where `search.learn` is `false`: nothing is learned, and what was learned does not count */
export async function openLearning(
  { search, policy }: Pick<GatewayConfig, "search" | "policy">,
  deps: Pick<LearningDeps, "logger" | "now" | "randomBytes"> & { home: string; scrubber: SecretScrubber },
  opening: AsyncDisposableStack,
): Promise<SearchLearning | undefined> {
  if (!search.learns) return undefined;
  const excluded = new Set(search.learnsExcept.flatMap((name) => clientKeysOf(policy, name)));
  const learning = await SearchLearning.open(deps.home, {
    ...deps,
    scrub: (text) => deps.scrubber.text(text),
    isExcluded: (key) => excluded.has(key),
  });
  return opening.use(learning);
}
