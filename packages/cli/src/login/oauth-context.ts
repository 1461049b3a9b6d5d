/** OAuth as the commands use it: the settings of a server, and what its logins are kept with. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type GatewayConfig, oauthServerOf, SecretResolver, type ToolServerConfig } from "@toolcrib/config";
import { readCertificateFile, readRegularFile } from "@toolcrib/files";
import type { OAuthDeps, OAuthServer } from "@toolcrib/oauth";
import { SecretScrubber } from "@toolcrib/redaction";
import { openSecretStore } from "@toolcrib/secrets";
import type { CliContext } from "../cli-context.ts";

/** Returns the OAuth settings of a server; undefined for one without. */
export function oauthSettingsOf(context: CliContext, server: ToolServerConfig): OAuthServer | undefined {
  const { env, options } = context;
  return oauthServerOf(server, new SecretResolver({ env, readFile: readRegularFile, home: options.home }));
}

/** Opens the dependencies of OAuth. Dispose of them. */
export async function openOAuthDeps(
  context: CliContext,
  { egress }: Pick<GatewayConfig, "egress">,
): Promise<OAuthDeps & AsyncDisposable> {
  const { options, env, now } = context;
  const scrubber = new SecretScrubber();
  const store = await openSecretStore({ home: options.home, env }, { now, randomBytes });
  const certificates = env["SSL_CERT_FILE"] ?? "";
  const file = certificates === "" ? undefined : await readCertificateFile(certificates);
  return {
    store,
    lockFolder: join(options.home, "oauth"),
    now,
    learn: (value) => scrubber.learn("login", value),
    scrub: (text) => scrubber.text(text),
    internalRanges: egress.internalRanges,
    ca: file?.kind === "read" ? file.pem : undefined,
    loginCommand: (id) => `toolcrib${options.homeFlag} login ${id}`,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
