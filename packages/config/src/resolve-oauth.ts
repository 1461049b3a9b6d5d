/** The OAuth settings of a tool server, with readers of its secrets. Reads nothing itself. */

import { CodedError } from "@toolcrib/diagnostics";
import type { OAuthServer } from "@toolcrib/oauth";
import type { ConfigText, ToolServerConfig } from "./config-types.ts";
import { resolveTransport } from "./resolve-transport.ts";
import type { SecretResolver } from "./secret-resolver.ts";

/** Returns the settings of `server`; undefined for one without OAuth. */
export function oauthServerOf(server: ToolServerConfig, resolver: SecretResolver): OAuthServer | undefined {
  const { transport, id, source } = server;
  if (transport.kind === "stdio" || transport.auth === undefined || transport.url.kind !== "literal")
    return undefined;
  const { auth } = transport;
  const reader = (text: ConfigText | undefined) =>
    text && (() => readSecretText(text, resolver, source.name));
  return {
    id,
    url: transport.url.text.trim(),
    grant: auth.grant,
    per: auth.per,
    scopes: auth.scopes,
    issuer: auth.issuer,
    clientId: auth.clientId,
    clientSecret: reader(auth.clientSecret),
    privateKey: reader(auth.privateKey),
    clientMetadataUrl: auth.clientMetadataUrl,
    redirectPort: auth.redirectPort,
    async network() {
      const resolved = await resolveTransport(server, resolver);
      const network = resolved.kind === "stdio" ? undefined : resolved.network;
      return { ca: network?.ca === undefined ? [] : [network.ca], proxy: network?.proxy };
    },
  };
}

/**
 * Reads the secret that `text` names.
 *
 * @param fileName the file of the declaration, to which paths are relative.
 * @throws {CodedError} with a `CONFIG_SECRET_…` code; a text that is no reference is not accepted.
 */
export async function readSecretText(
  text: ConfigText,
  resolver: SecretResolver,
  fileName: string,
): Promise<string> {
  if (text.kind !== "secret") {
    throw new CodedError("CONFIG_INLINE_SECRET", "inline secret not allowed", {
      hint: "write secret_key_ref: NAME",
    });
  }
  const resolution = await resolver.resolve(text.ref, fileName);
  if (resolution.kind === "value") return resolution.value;
  const { code, message, hint } = resolution;
  throw new CodedError(code, message, { hint });
}
