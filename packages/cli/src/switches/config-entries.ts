/** The servers and toolspecs of a configuration, with those that are disabled. */

import type { GatewayConfig } from "@toolcrib/config";

/** One of them, as far as switches are concerned. */
export interface ConfigEntry {
  readonly id: string;
  /** Whether its file says `enabled: false`. */
  readonly isOff?: boolean;
}

/** Returns them: servers first, those in use before the others. */
export function entriesOf({ toolServers, toolspecs, disabled }: GatewayConfig): readonly ConfigEntry[] {
  return [...toolServers, ...disabled.toolServers, ...toolspecs, ...disabled.toolspecs];
}
