/** The clients whose person may approve calls through elicitation, as the operator declares them. Pure. */

import type { GatewayConfig } from "@toolcrib/config";
import { identityKey, localIdentityKeys } from "@toolcrib/tool";

/** Returns the keys of the identities that may approve their calls through elicitation. */
export function elicitedClientsOf({ clients }: GatewayConfig["policy"]): ReadonlySet<string> {
  const keys = Object.entries(clients)
    .filter(([, { approvesByElicitation }]) => approvesByElicitation === true)
    .flatMap(([name, { identity }]) =>
      identity === undefined ? localIdentityKeys(name) : [identityKey(identity)],
    );
  return new Set(keys);
}
