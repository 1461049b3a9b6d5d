/** Secrets per identity: the reference to that of one client, and which clients have one. Never a value. */

import { randomBytes } from "node:crypto";
import type { GatewayConfig } from "@toolcrib/config";
import { openSecretStore, refFor } from "@toolcrib/secrets";
import { clientArgument, identityKey } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { safeLine } from "../output/output.ts";
import { clientIdentity, knownClients } from "../policy/client-identity.ts";

/** Returns the name in the store of the secret `name` of a client. */
export function identitySecretName(
  config: Pick<GatewayConfig, "policy">,
  name: string,
  client: string,
): string {
  const identity = clientIdentity(config, client);
  const owner = { key: identityKey(identity), name: clientArgument(identity) };
  const ref = refFor({ kind: "store", name, per: "identity" }, owner);
  return ref.kind === "store" ? ref.name : name;
}

/** A secret per identity, and the clients that have one. */
interface IdentitySecret {
  /** The server or toolspec. */
  readonly of: string;
  readonly name: string;
  readonly clients: readonly string[];
  /** Number of further clients whose names are not known here, such as those of an identity provider. */
  readonly others: number;
}

/** Returns the secrets per identity of a configuration. @throws {CodedError} as the secret store */
export async function identitySecrets(
  context: CliContext,
  config: GatewayConfig,
): Promise<readonly IdentitySecret[]> {
  const named = [
    ...config.toolServers.flatMap(({ id, transport }) =>
      transport.kind === "stdio"
        ? []
        : Object.values(transport.headers).flatMap((one) =>
            one.kind === "secret" ? [{ id, ref: one.ref }] : [],
          ),
    ),
    ...config.toolspecs.flatMap(({ id, credentials }) =>
      Object.values(credentials).map((ref) => ({ id, ref })),
    ),
  ].flatMap(({ id, ref }) =>
    ref.kind === "store" && ref.per === "identity" ? [{ id, name: ref.name }] : [],
  );
  if (named.length === 0) return [];
  const { options, env, now } = context;
  await using store = await openSecretStore({ home: options.home, env }, { now, randomBytes });
  const stored = new Set((await store.list()).map((entry) => entry.name));
  const known = knownClients(context, config);
  return named.map(({ id, name }) => {
    const clients = known.filter((client) => stored.has(identitySecretName(config, name, client)));
    const all = [...stored].filter((one) => one.startsWith(`${name}.id.`)).length;
    return { of: id, name, clients, others: all - clients.length };
  });
}

/** Returns a line for each. */
export function identitySecretLines(secrets: readonly IdentitySecret[]): readonly string[] {
  return secrets.map(({ of, name, clients, others }) => {
    const more =
      others === 0 ? "" : `${clients.length === 0 ? "" : " and "}${others} of an identity provider`;
    const who = clients.length === 0 && others === 0 ? "no client yet" : `${clients.join(", ")}${more}`;
    return safeLine(`secret ${name} of ${of}, one for each client: ${who}`);
  });
}
