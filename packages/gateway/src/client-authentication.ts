/**
 * Authenticates the clients of the HTTP server: by the tokens of the home, and by access tokens of
 * the issuers of `serve.auth`. A token of the home is looked for first, in this process.
 */

import { openTokenStore } from "@toolcrib/auth";
import { type GatewayConfig, readSecretText, SecretResolver } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import type { HttpServerDeps } from "@toolcrib/http";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { Store } from "@toolcrib/store";
import type { Identity } from "@toolcrib/tool";

/** The parts of a gateway that the authentication of clients needs. */
interface AuthenticationContext {
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  readonly logger: Logger;
  readonly scrubber: SecretScrubber;
  /** PEM certificates that are trusted in addition to the default ones. */
  readonly authorities: string | undefined;
  /** Disposed of with the gateway. */
  readonly resources: AsyncDisposableStack;
  readonly record: Store["audit"]["record"];
}

/** The name under which redaction knows the secrets of `serve`. */
const secretOwner = "serve";

/** Returns which tokens of the home were revoked, for a gateway that does not listen: tasks of earlier runs have owners, too. */
export async function openRevocations({
  home,
  ...deps
}: Pick<AuthenticationContext, "home" | "now" | "randomBytes" | "logger">): Promise<
  (identity: Identity) => boolean
> {
  const tokens = await openTokenStore(home, { ...deps, isObserver: true });
  return (identity) => tokens.isRevoked(identity);
}

/**
 * Returns the check of clients, and where they find out how to get a token. Loads the checks of access
 * tokens only where an issuer is configured, and warns in the log about issuers that cannot be reached.
 *
 * @throws {AuthError} as `openTokenStore`.
 */
export async function openClientAuthentication(
  { serve, egress }: Pick<GatewayConfig, "serve" | "egress">,
  context: AuthenticationContext,
): Promise<Pick<HttpServerDeps, "authenticate" | "isRevoked" | "resource" | "tokenEndOf">> {
  const { home, env, now, randomBytes, logger, scrubber, authorities, record } = context;
  const { oauth } = serve;
  const environmentToken = env["TOOLCRIB_TOKEN"];
  const onReplaced = (name: string) => record("token.replaced", { name });
  const tokens =
    oauth?.acceptsTokens === false
      ? undefined
      : await openTokenStore(home, { environmentToken, now, randomBytes, logger, onReplaced });
  const isRevoked = tokens && ((identity: Identity) => tokens.isRevoked(identity));
  if (oauth === undefined)
    return { authenticate: (authorization) => tokens?.authenticate(authorization), isRevoked };
  const { ClientTokens } = await import("@toolcrib/oauth");
  const secrets = new SecretResolver({ env, readFile: readRegularFile, home });
  const issuers = oauth.issuers.map(({ introspection, ...issuer }) => ({
    ...issuer,
    introspection: introspection && {
      url: introspection.url,
      clientId: introspection.clientId,
      // A relative path of a secret is relative to the folder of the process: several files make up `serve`.
      clientSecret: () => readSecretText(introspection.clientSecret, secrets, ""),
    },
  }));
  const learn = (value: string) => scrubber.learn(secretOwner, value);
  const scrub = (text: string) => scrubber.text(text);
  const { internalRanges } = egress;
  const deps = { now, logger, learn, scrub, internalRanges, ca: authorities };
  const accessTokens = new ClientTokens(issuers, deps);
  const stop = new AbortController();
  const checking = accessTokens.problems(stop.signal).then((problems) => {
    if (stop.signal.aborted) return;
    for (const [issuer, reason] of problems)
      logger.warn({ issuer, reason }, "tokens of an issuer cannot be checked at the moment");
  });
  context.resources.defer(async () => {
    stop.abort();
    await checking;
  });
  return {
    authenticate: (authorization) => tokens?.authenticate(authorization) ?? accessTokens.check(authorization),
    isRevoked,
    tokenEndOf: accessTokens.endOf,
    resource: {
      resource: oauth.resource,
      authorizationServers: oauth.issuers.map(({ issuer }) => issuer),
      scopes: [...new Set(oauth.issuers.flatMap(({ scopes }) => scopes))],
    },
  };
}
