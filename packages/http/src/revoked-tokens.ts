/**
 * Closes the connections and ends the sessions of clients whose token is no longer accepted: a stream of events can stay
 * open for days, and nothing else asks for its token again. It checks all once in each interval.
 *
 * Only tokens of the home count. Whether a token of another issuer is still accepted can depend on a server that
 * does not answer at the moment, which must not end calls in flight; when it ends is known (expiring-streams.ts).
 */

import type { Socket } from "node:net";
import { type Identity, isLocalIssuer, isSameIdentity } from "@toolcrib/tool";
import type { Authenticate } from "./request-handler.ts";

/** The last request of a connection that was accepted. Only this one can have no answer yet. */
interface Accepted {
  readonly authorization: string;
  readonly identity: Identity;
}

/** Watches connections until it is disposed. */
export class RevokedTokens implements Disposable {
  readonly #authenticate: Authenticate;
  readonly #onRevoked: (socket: Socket, client: string) => void;
  readonly #endSessions: () => void;
  readonly #accepted = new Map<Socket, Accepted | undefined>();
  readonly #timer: NodeJS.Timeout;

  /**
   * Starts to watch.
   *
   * @param onRevoked called before a connection is closed
   * @param endSessions ends the sessions of revoked tokens
   */
  constructor(
    authenticate: Authenticate,
    options: { readonly intervalMs: number },
    onRevoked: (socket: Socket, client: string) => void,
    endSessions: () => void,
  ) {
    this.#authenticate = authenticate;
    this.#onRevoked = onRevoked;
    this.#endSessions = endSessions;
    this.#timer = setInterval(() => this.#check(), options.intervalMs);
    this.#timer.unref();
  }

  /** Notes a request of `identity`. */
  add(socket: Socket, authorization: string | undefined, identity: Identity): void {
    const isWatched = authorization !== undefined && isLocalIssuer(identity.issuer);
    const known = this.#accepted.get(socket);
    if (isWatched && known?.authorization === authorization && known.identity === identity) return;
    if (!this.#accepted.has(socket)) {
      if (!isWatched) return;
      socket.once("close", () => this.#accepted.delete(socket));
    }
    this.#accepted.set(socket, isWatched ? { authorization, identity } : undefined);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#accepted.clear();
  }

  #check(): void {
    for (const [socket, accepted] of this.#accepted) {
      if (accepted === undefined) continue;
      const { authorization, identity } = accepted;
      const now = this.#authenticate(authorization);
      if (now instanceof Promise) continue;
      if (now !== undefined && !("missingScopes" in now) && isSameIdentity(now, identity)) continue;
      this.#onRevoked(socket, identity.name);
      socket.destroy();
    }
    this.#endSessions();
  }
}
