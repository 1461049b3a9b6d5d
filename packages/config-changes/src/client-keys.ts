/** The identities behind the names of clients in the configuration. */

import type { GatewayConfig } from "@toolcrib/config";
import { identityKey, localIdentityKeys } from "@toolcrib/tool";

type ClientRules = Pick<GatewayConfig["policy"], "clients">;

/** Returns the keys of the identities that may approve their calls through elicitation. */
export function elicitedClientsOf({ clients }: ClientRules): ReadonlySet<string> {
  const keys = Object.entries(clients)
    .filter(([, { approvesByElicitation }]) => approvesByElicitation === true)
    .flatMap(([name]) => clientKeysOf({ clients }, name));
  return new Set(keys);
}

/** Returns the keys of the identities that the configuration calls `name`. */
export function clientKeysOf({ clients }: ClientRules, name: string): readonly string[] {
  const identity = Object.hasOwn(clients, name) ? clients[name]?.identity : undefined;
  return identity === undefined ? localIdentityKeys(name) : [identityKey(identity)];
}
