/**
 * The access tokens of the servers with `transport.auth`. Their logins are in the secret store, which
 * is watched: a login, logout or refresh of another process is used without a restart.
 */

import { oauthServerOf, SecretResolver, type ToolServerConfig } from "@toolcrib/config";
import { messageOf } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { AccessTokens } from "@toolcrib/oauth";
import { openSecretStore } from "@toolcrib/secrets";
import type { SecretStore } from "@toolcrib/store";
import { type Identity, isLocalIssuer } from "@toolcrib/tool";
import type { SourceContext } from "./open-sources.ts";

/** What the servers with OAuth need of a gateway. */
type OAuthContext = Pick<
  SourceContext,
  "config" | "home" | "homeFlag" | "env" | "now" | "randomBytes" | "logger" | "scrubber" | "authorities"
>;

/** The access tokens of the servers of one gateway. */
export class OAuthServers implements AsyncDisposable {
  readonly #context: OAuthContext;
  readonly #store: SecretStore;
  readonly #tokens = new Map<string, AccessTokens>();
  /** Called when the login of a server changed, by the id of the server. */
  readonly #listeners = new Map<string, (isReplaced: boolean) => void>();
  #watch: AsyncDisposable | undefined;

  constructor(context: OAuthContext, store: SecretStore) {
    this.#context = context;
    this.#store = store;
  }

  /** Returns the tokens for `server`; undefined for a server without OAuth. */
  tokensOf(server: ToolServerConfig): AccessTokens | undefined {
    const { env, home, scrubber, config, now, authorities } = this.#context;
    const known = this.#tokens.get(server.id);
    if (known !== undefined) return known;
    const settings = oauthServerOf(server, new SecretResolver({ env, readFile: readRegularFile, home }));
    if (settings === undefined) return undefined;
    const tokens = new AccessTokens(settings, {
      store: this.#store,
      lockFolder: `${home}/oauth`,
      now,
      learn: (value) => scrubber.learn(server.id, value),
      internalRanges: config.egress.internalRanges,
      ca: authorities,
      loginCommand: (id, identity) =>
        `toolcrib${this.#context.homeFlag ?? ""} login ${id}${clientFlag(identity)}`,
    });
    this.#tokens.set(server.id, tokens);
    return tokens;
  }

  /** Calls `listener` when the login of the server `id` changed: whether it was replaced by another one, or ended. */
  onChange(id: string, listener: (isReplaced: boolean) => void): void {
    this.#listeners.set(id, listener);
  }

  /** Watches the store. Without the watch, a login is used after a restart. */
  async watch(): Promise<void> {
    try {
      this.#watch = await this.#store.watch(({ name }) => {
        for (const [id, tokens] of this.#tokens) void this.#changed(id, tokens, name);
      });
    } catch (error) {
      this.#context.logger.warn(
        { reason: messageOf(error) },
        "secret store cannot be watched: logins of servers are used after a restart",
      );
    }
  }

  async #changed(id: string, tokens: AccessTokens, name: string): Promise<void> {
    const change = await tokens.changed(name);
    if (change !== undefined) this.#listeners.get(id)?.(change === "replaced");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
  }
}

/** Opens the tokens of the servers with OAuth. */
export async function openOAuthServers(context: OAuthContext): Promise<OAuthServers> {
  const { home, env, now, randomBytes } = context;
  const store = await openSecretStore({ home, env }, { now, randomBytes });
  const servers = new OAuthServers(context, store);
  await servers.watch();
  return servers;
}

/** The option of `toolcrib login` that names a client. */
function clientFlag(identity: Identity | undefined): string {
  if (identity === undefined) return "";
  // The name in a token is the client's own; the operator names the client by its entry in policy.clients.
  return isLocalIssuer(identity.issuer) ? ` --client ${identity.name}` : " --client NAME";
}
