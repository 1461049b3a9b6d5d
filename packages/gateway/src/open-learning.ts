/** Opens what searches learn from uses. */

import type { GatewayConfig } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { SearchLearning } from "@toolcrib/learning";
import type { SecretScrubber } from "@toolcrib/redaction";
import { clientKeysOf } from "./call/client-keys.ts";

/** @returns undefined where `search.learn` is `false`: nothing is learned, and what was learned does not count */
export async function openLearning(
  { search, policy }: Pick<GatewayConfig, "search" | "policy">,
  {
    home,
    scrubber,
    ...deps
  }: {
    readonly home: string;
    readonly logger: Logger;
    readonly scrubber: SecretScrubber;
    /** Milliseconds since the epoch. */
    readonly now: () => number;
    readonly randomBytes: (count: number) => Uint8Array;
  },
  opening: AsyncDisposableStack,
): Promise<SearchLearning | undefined> {
  if (!search.learns) return undefined;
  const excluded = new Set(search.learnsExcept.flatMap((name) => clientKeysOf(policy, name)));
  const learning = await SearchLearning.open(home, {
    ...deps,
    scrub: (text) => scrubber.text(text),
    startTimer(delayMs, callback) {
      const timer = setTimeout(callback, delayMs).unref();
      return () => clearTimeout(timer);
    },
    isExcluded: (key) => excluded.has(key),
  });
  return opening.use(learning);
}
