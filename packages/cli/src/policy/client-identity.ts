/** The clients that a command is about: their identities, and the names of those that exist. */

import type { GatewayConfig } from "@toolcrib/config";
import { nearestName } from "@toolcrib/diagnostics";
import { type Identity, localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { tokenNamesOf } from "../config/load-config-deps.ts";
import { safeLine } from "../output/output.ts";

/** Names of identities that Toolcrib itself gives: `cli`, `stdio`, `library`, `anonymous`. */
export const ownClients = ["cli", "stdio", "library", "anonymous"] as const;

/** Tokens without a file: that of `TOOLCRIB_TOKEN`, and the one that `serve` creates when it starts. */
const standingTokens = ["default", "env"] as const;

/** A client of an identity provider, as `SUBJECT@ISSUER`: `ada@https://login.example.com`. */
const providerClient = /^(.{1,256})@(https?:\/\/[^\s@]{1,2048})$/;

/**
 * Returns the identity of the client called `name`: one of `ownClients`, the identity that `policy.clients` gives
 * to the name, `SUBJECT@ISSUER` of an identity provider, or the token of that name.
 */
export function clientIdentity({ policy }: Pick<GatewayConfig, "policy">, name: string): Identity {
  const given = Object.hasOwn(policy.clients, name) ? policy.clients[name]?.identity : undefined;
  if (given !== undefined) return { ...given, name, roles: [] };
  const [, subject, issuer] = providerClient.exec(name) ?? [];
  if (subject !== undefined && issuer !== undefined) return { issuer, subject, name: subject, roles: [] };
  return localIdentity(ownClients.find((one) => one === name) ?? "token", name);
}

/** Returns the names of all clients that can exist: those of the configuration, those with a token, and Toolcrib's own. */
export function knownClients(
  { options }: Pick<CliContext, "options">,
  { policy }: { readonly policy: Pick<GatewayConfig["policy"], "clients"> },
): readonly string[] {
  const names = [...tokenNamesOf(options.home), ...Object.keys(policy.clients)];
  return [...new Set([...names, ...ownClients, ...standingTokens])];
}

/** Warns on standard error about each of `names` that no client has: its answer is that for a client without any rule. */
export function warnAboutUnknownClients(
  context: CliContext,
  config: Pick<GatewayConfig, "policy">,
  names: readonly string[],
): void {
  const { output } = context;
  const known = knownClients(context, config);
  for (const name of names) {
    if (known.includes(name)) continue;
    if (providerClient.test(name)) {
      output.note(
        `${output.noteStyle("yellow", "note")}: the roles and labels that tokens of "${safeLine(name)}" have are not known here`,
      );
      continue;
    }
    const near = nearestName(name, known);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    output.note(
      `${output.noteStyle("yellow", "warning")}: no client is called "${safeLine(name)}": it has no token and no entry in policy.clients${safeLine(hint)}`,
    );
  }
}
