/**
 * The logins to the servers of one gateway: their tokens, the watch of the store, so that a login, logout or refresh of
 * another process is used without a restart, and the decision which clients are asked to log in.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import type { SecretStore } from "@toolcrib/store";
import { type Identity, isOperator, issuerName } from "@toolcrib/tool";
import { AccessTokens, type LoginChange } from "./access-tokens.ts";
import { loginSecretName } from "./login-record.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";
import { type WebLogin, WebLogins, type WebLoginsDeps } from "./web-logins.ts";

/** Dependencies of the logins of a gateway. */
export interface ServerLoginsDeps extends WebLoginsDeps {
  /** Disposed of with the logins. */
  readonly store: Pick<SecretStore, "get" | "set" | "delete" | "watch"> & AsyncDisposable;
  readonly logger: Logger;
  /** Whether all clients are programs of the user who runs the gateway: only this machine reaches it. */
  readonly areClientsLocal: boolean;
}

/** One server. */
interface KnownServer {
  readonly settings: OAuthServer;
  readonly deps: OAuthDeps;
  readonly tokens: AccessTokens;
  /** Called with the owner of a login that is another one than before. */
  onChange: (change: LoginChange) => void;
}

/** The logins of one gateway. */
export class ServerLogins implements AsyncDisposable {
  /** The pages at which clients log in. */
  readonly pages: WebLogins;
  readonly #deps: ServerLoginsDeps;
  /** Two servers of one id are known while the one that was replaced finishes its calls. */
  readonly #servers = new Map<AccessTokens, KnownServer>();
  #watch: AsyncDisposable | undefined;

  constructor(deps: ServerLoginsDeps) {
    this.#deps = deps;
    this.pages = new WebLogins(deps);
  }

  /** Adds a server. @returns its tokens, by which it is known */
  add(settings: OAuthServer, deps: Omit<OAuthDeps, "store">): AccessTokens {
    const all = { ...deps, store: this.#deps.store };
    const tokens = new AccessTokens(settings, all);
    this.#servers.set(tokens, { settings, deps: all, tokens, onChange() {} });
    return tokens;
  }

  /** Forgets a server: nobody is asked to log in to it any more. Its logins stay in the store. */
  remove(tokens: AccessTokens): void {
    this.#servers.delete(tokens);
  }

  /** Calls `listener` when a login to the server was read again. */
  onChange(tokens: AccessTokens, listener: (change: LoginChange) => void): void {
    const server = this.#servers.get(tokens);
    if (server !== undefined) server.onChange = listener;
  }

  /**
   * Returns the page at which a client can log in to a server, where its request failed because of that.
   *
   * A login that all clients use is only offered to those that may choose its account: operators, and, where other
   * machines cannot reach the gateway, every client.
   */
  async askForLogin(
    tokens: AccessTokens,
    identity: Identity,
    isUnavailable: boolean,
  ): Promise<WebLogin | undefined> {
    const server = this.#servers.get(tokens);
    const missing = server?.tokens.missingFor(identity);
    if (server === undefined || missing === undefined || (isUnavailable && missing === "scopes"))
      return undefined;
    const { settings, deps } = server;
    const { areClientsLocal, logger } = this.#deps;
    const mayChoose = areClientsLocal || isOperator(identity) || issuerName(identity) === "stdio";
    if (settings.per === "gateway" && !mayChoose) return undefined;
    try {
      const onStored = async (owner: Identity | undefined) => {
        await this.#changed(server, loginSecretName(settings, owner));
      };
      return await this.pages.begin({ identity, server: settings, deps, onStored });
    } catch (error) {
      logger.warn({ server: settings.id, reason: messageOf(error) }, "client cannot be asked to log in");
      return undefined;
    }
  }

  /** Watches the store. Without the watch, a login of another process is used after a restart. */
  async watch(): Promise<void> {
    const { store, logger } = this.#deps;
    try {
      this.#watch = await store.watch(({ name }) => {
        for (const server of this.#servers.values()) void this.#changed(server, name);
      });
    } catch (error) {
      logger.warn(
        { reason: messageOf(error) },
        "secret store cannot be watched: logins of servers are used after a restart",
      );
    }
  }

  async #changed({ tokens, onChange }: KnownServer, name: string): Promise<void> {
    const changed = await tokens.changed(name);
    if (changed !== undefined) onChange(changed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.pages[Symbol.dispose]();
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#deps.store[Symbol.asyncDispose]();
  }
}
