/** The identity of a client that a command is about. */

import type { GatewayConfig } from "@toolcrib/config";
import { type Identity, localIdentity } from "@toolcrib/tool";

/** Names of identities that Toolcrib itself gives: `cli`, `stdio`, `library`, `anonymous`. */
export const ownClients = ["cli", "stdio", "library", "anonymous"] as const;

/**
 * Returns the identity of the client called `name`: one of `ownClients`, the identity that `policy.clients` gives
 * to the name, or the token of that name.
 */
export function clientIdentity({ policy }: Pick<GatewayConfig, "policy">, name: string): Identity {
  const given = Object.hasOwn(policy.clients, name) ? policy.clients[name]?.identity : undefined;
  if (given !== undefined) return { ...given, name, roles: [] };
  return localIdentity(ownClients.find((one) => one === name) ?? "token", name);
}
