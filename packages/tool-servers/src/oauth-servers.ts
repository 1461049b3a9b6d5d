/** The logins to the servers with `transport.auth`, from their configuration. Their logins are in the secret store. */

import { isLoopbackHost, oauthServerOf, SecretResolver, type ToolServerConfig } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { type AccessTokens, ServerLogins } from "@toolcrib/oauth";
import { openSecretStore } from "@toolcrib/secrets";
import { clientArgument } from "@toolcrib/tool";
import type { ServersContext } from "./servers-context.ts";

/** The logins of a gateway, and how a server is added to them. */
export interface OAuthServers extends AsyncDisposable {
  readonly logins: ServerLogins;
  /** Adds a server, if it has `transport.auth`. @returns its tokens */
  addServer(server: ToolServerConfig): AccessTokens | undefined;
}

/** Opens the logins of the servers with OAuth, and the pages at which clients log in. */
export async function openOAuthServers(context: ServersContext): Promise<OAuthServers> {
  const { config, home, homeFlag = "", env, now, randomBytes, logger, scrubber, authorities } = context;
  const { serve, egress } = config;
  const logins = new ServerLogins({
    store: await openSecretStore({ home, env }, { now, randomBytes }),
    now,
    randomBytes,
    logger,
    areClientsLocal: isLoopbackHost(serve.listen.host) && serve.oauth === undefined,
  });
  await logins.watch();
  context.onLoginPages(logins.pages);
  return {
    logins,
    addServer(server) {
      const settings = oauthServerOf(server, new SecretResolver({ env, readFile: readRegularFile, home }));
      if (settings === undefined) return undefined;
      return logins.add(settings, {
        lockFolder: `${home}/oauth`,
        now,
        learn: (value) => scrubber.learn(server.id, value),
        scrub: (text) => scrubber.text(text),
        internalRanges: egress.internalRanges,
        ca: authorities,
        loginCommand: (id, identity) =>
          `toolcrib${homeFlag} login ${id}${identity === undefined ? "" : ` --client ${clientArgument(identity)}`}`,
      });
    },
    [Symbol.asyncDispose]: () => logins[Symbol.asyncDispose](),
  };
}
