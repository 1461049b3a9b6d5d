/**
 * Logins that clients of a gateway are asked for: a page of the gateway, whose address the client shows to its person
 * (MCP elicitation with a URL), and which leads to the authorization server and back.
 *
 * A page belongs to one identity and one server, for a limited time. Only a browser whose person proves to be that
 * identity, with the token of its client, gets on to the authorization server, and only that browser may bring the
 * answer back: nobody can let another person log in for them, or log another person in. A `state` counts once. The
 * number of open pages is limited, for each identity and for all.
 *
 * It decides nothing about who is asked, and answers without HTML.
 */

import { hash, timingSafeEqual } from "node:crypto";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { type Identity, identityKey, isSameIdentity, issuerName } from "@toolcrib/tool";
import { login, type OpenedLogin, openLogin } from "./login.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";

/** Dependencies of the pages. */
export interface WebLoginsDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  readonly logger: Logger;
}

/** A login that a client needs. */
export interface WebLoginRequest {
  /** The client that is asked. */
  readonly identity: Identity;
  /** The server; `per` decides whose login it becomes. */
  readonly server: OAuthServer;
  readonly deps: OAuthDeps;
  /** Called after the login was stored, before `settled` resolves. */
  readonly onStored: (owner: Identity | undefined) => Promise<void>;
}

/** A page that a client can show. */
export interface WebLogin {
  readonly id: string;
  readonly url: string;
  /** Resolves with whether the login was stored; later than the page is over. Never rejects. */
  readonly settled: Promise<boolean>;
}

/** An answer to a browser. */
export interface LoginPage {
  readonly status: number;
  readonly text: string;
  /** A form that continues with this ticket. */
  readonly form?: { readonly ticket: string; readonly asksToken: boolean };
  /** Where the browser continues. */
  readonly link?: string;
  /** A cookie for the path of the pages. */
  readonly cookie?: { readonly name: string; readonly value: string; readonly maxAgeSeconds: number };
}

/** Milliseconds for which a page can be used. @limit client */
const pageMs = 10 * 60_000;
/** Milliseconds that a page has left at least when it is shown again. */
const reuseMs = 2 * 60_000;
/** Open pages of all identities. @limit client */
const maxPages = 1000;
/** Open pages of one identity. @limit client */
const maxPagesOfOne = 20;
/** Wrong proofs after which a page is over. @limit client */
const maxWrongProofs = 20;
/** Requests to authorization servers at a time. @limit client */
const maxRunning = 16;
/** Milliseconds for the requests before a browser continues, and for those after its answer. */
const requestsTimeoutMs = 60_000;

/** Paths of the pages. */
export const loginPaths = { page: "/oauth/login", callback: "/oauth/callback" } as const;

/** One page. */
interface Flow {
  readonly request: WebLoginRequest;
  /** The client and the server; there is one page for both. */
  readonly key: string;
  readonly holder: string;
  readonly ticket: string;
  readonly url: string;
  readonly expiresAt: number;
  readonly settled: PromiseWithResolvers<boolean>;
  /** Ends a login that this page does not lead. */
  readonly stop: AbortController;
  wrongProofs: number;
  /** The browser that proved to be the client, on its way to the authorization server. */
  browser: { readonly opened: OpenedLogin; readonly cookie: string } | undefined;
}

/** The pages of one gateway. */
export class WebLogins implements Disposable {
  readonly #deps: WebLoginsDeps;
  /** By client and server, oldest first. */
  readonly #flows = new Map<string, Flow>();
  readonly #byTicket = new Map<string, Flow>();
  readonly #byState = new Map<string, Flow>();
  readonly #opening = new Map<string, Promise<WebLogin | undefined>>();
  readonly #closing = new AbortController();
  #base: string | undefined;
  #running = 0;

  constructor(deps: WebLoginsDeps) {
    this.#deps = deps;
  }

  /** Makes the pages known under `base`, the origin that browsers reach the gateway at. */
  open(base: string): void {
    this.#base = base;
  }

  /**
   * Returns the page for a login, the open one where there is one; undefined where there can be none. A client over
   * standard input has no token to prove itself with: its login returns to this machine, like one of the command line.
   */
  begin(request: WebLoginRequest): Promise<WebLogin | undefined> {
    const holder = identityKey(request.identity);
    const key = `${request.server.id} ${holder}`;
    // Calls at a time share one page, also while it is being opened.
    const running = this.#opening.get(key);
    if (running !== undefined) return running;
    const opening = this.#begin(request, holder, key).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  async #begin(request: WebLoginRequest, holder: string, key: string): Promise<WebLogin | undefined> {
    this.#sweep();
    const known = this.#flows.get(key);
    if (known !== undefined && known.expiresAt - this.#deps.now() >= reuseMs) return shown(known);
    if (known !== undefined) this.#end(known, false);
    const ofOne = [...this.#flows.values()].filter((flow) => flow.holder === holder);
    if (ofOne.length >= maxPagesOfOne) this.#end(ofOne[0] as Flow, false);
    if (this.#flows.size >= maxPages || this.#closing.signal.aborted) return undefined;
    const ticket = this.#deps.randomBytes(32).toString("base64url");
    const isLocal = issuerName(request.identity) === "stdio";
    if (!isLocal && this.#base === undefined) return undefined;
    const flow: Flow = {
      request,
      key,
      holder,
      ticket,
      url: isLocal ? "" : `${this.#base}${loginPaths.page}?ticket=${ticket}`,
      expiresAt: this.#deps.now() + pageMs,
      settled: Promise.withResolvers(),
      stop: new AbortController(),
      wrongProofs: 0,
      browser: undefined,
    };
    const open = isLocal ? { ...flow, url: await this.#openLocal(flow) } : flow;
    this.#flows.set(key, open);
    this.#byTicket.set(ticket, open);
    return shown(open);
  }

  /** Returns the page of a ticket. */
  page(ticket: string): LoginPage {
    const flow = this.#find(ticket);
    if (flow === undefined) return over;
    const { identity, server } = flow.request;
    const asksToken = needsToken(identity);
    const proof = asksToken
      ? `Enter the token that "${identity.name}" uses for this gateway, to show that you are its person.`
      : "";
    return {
      status: 200,
      text: `The client "${identity.name}" needs a login to the server "${server.id}" (${new URL(server.url).host}). Continue only if you use this client yourself and have just been asked to log in. ${proof}`,
      form: { ticket, asksToken },
    };
  }

  /** Continues with the authorization server. @param identity that of the token which the person entered */
  async proceed(ticket: string, identity: Identity | undefined): Promise<LoginPage> {
    const flow = this.#find(ticket);
    if (flow === undefined) return over;
    const { request } = flow;
    if (identity === undefined || !isSameIdentity(identity, request.identity)) {
      flow.wrongProofs += 1;
      if (flow.wrongProofs >= maxWrongProofs) this.#end(flow, false);
      return { status: 403, text: `This is not the token of the client "${request.identity.name}".` };
    }
    if (this.#running >= maxRunning)
      return { status: 503, text: "Too many logins at the moment. Try again." };
    this.#running += 1;
    try {
      const opened = await openLogin(request.server, request.deps, {
        identity: ownerOf(request),
        redirectUri: `${this.#base}${loginPaths.callback}`,
        signal: this.#deadline(),
      });
      // Another attempt with this page takes the place of an earlier one.
      if (flow.browser !== undefined) this.#byState.delete(flow.browser.opened.state);
      if (this.#find(ticket) !== flow) return over;
      const cookie = this.#deps.randomBytes(32).toString("base64url");
      flow.browser = { opened, cookie };
      this.#byState.set(opened.state, flow);
      const maxAgeSeconds = Math.max(1, Math.floor((flow.expiresAt - this.#deps.now()) / 1000));
      return {
        status: 200,
        text: `Continue to ${new URL(opened.url).host}.`,
        link: opened.url,
        cookie: { name: cookieName(ticket), value: cookie, maxAgeSeconds },
      };
    } catch (error) {
      return this.#failed(flow, error);
    } finally {
      this.#running -= 1;
    }
  }

  /** Takes the answer of an authorization server. @param cookies the header `Cookie` */
  async callback(query: string, cookies: string | undefined): Promise<LoginPage> {
    const states = new URLSearchParams(query).getAll("state");
    const flow = states.length === 1 ? this.#byState.get(states[0] as string) : undefined;
    const browser = flow?.browser;
    if (flow === undefined || browser === undefined || this.#find(flow.ticket) !== flow) return over;
    if (!hasCookie(cookies, cookieName(flow.ticket), browser.cookie)) {
      return { status: 403, text: "This answer belongs to another browser." };
    }
    // It counts once, whatever comes of it.
    this.#byState.delete(browser.opened.state);
    flow.browser = undefined;
    try {
      const answer = new URL(`${this.#base}${loginPaths.callback}?${query}`);
      await browser.opened.finish(answer, this.#deadline());
      await this.#stored(flow);
      return {
        status: 200,
        text: `Logged in to "${flow.request.server.id}". You can close this page and return to your client.`,
      };
    } catch (error) {
      return this.#failed(flow, error);
    }
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    for (const flow of [...this.#flows.values()]) this.#end(flow, false);
  }

  /** Runs a login that returns to this machine. @returns the address to open */
  async #openLocal(flow: Flow): Promise<string> {
    const { server, deps } = flow.request;
    const opened = Promise.withResolvers<string>();
    const signal = AbortSignal.any([flow.stop.signal, this.#closing.signal]);
    login(server, deps, {
      method: "browser",
      identity: ownerOf(flow.request),
      show: ({ url }) => opened.resolve(url),
      signal,
    })
      .then(() => this.#stored(this.#flows.get(flow.key) ?? flow))
      .catch((error: unknown) => {
        opened.reject(error);
        const current = this.#flows.get(flow.key);
        if (current?.ticket === flow.ticket) this.#end(current, false);
      });
    return await opened.promise;
  }

  async #stored(flow: Flow): Promise<void> {
    const { identity, server, onStored } = flow.request;
    this.#deps.logger.info({ server: server.id, client: identity.name }, "client logged in to a server");
    await onStored(ownerOf(flow.request));
    this.#end(flow, true);
  }

  #failed({ request }: Flow, error: unknown): LoginPage {
    const reason = messageOf(error);
    this.#deps.logger.warn(
      { server: request.server.id, client: request.identity.name, reason },
      "login of a client failed",
    );
    return {
      status: 502,
      text: `The login failed: ${reason}. Open the page that your client shows to try again.`,
    };
  }

  #find(ticket: string): Flow | undefined {
    const flow = this.#byTicket.get(ticket);
    if (flow === undefined || flow.expiresAt > this.#deps.now()) return flow;
    this.#end(flow, false);
    return undefined;
  }

  #sweep(): void {
    // All pages have the same time, so the oldest ones are over first.
    for (const flow of this.#flows.values()) {
      if (flow.expiresAt > this.#deps.now()) break;
      this.#end(flow, false);
    }
  }

  #end(flow: Flow, isStored: boolean): void {
    if (this.#flows.get(flow.key)?.ticket === flow.ticket) this.#flows.delete(flow.key);
    this.#byTicket.delete(flow.ticket);
    if (flow.browser !== undefined) this.#byState.delete(flow.browser.opened.state);
    flow.stop.abort();
    flow.settled.resolve(isStored);
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(requestsTimeoutMs)]);
  }
}

/** The identity whose login it becomes; undefined for the gateway. */
function ownerOf({ identity, server }: WebLoginRequest): Identity | undefined {
  return server.per === "identity" ? identity : undefined;
}

function shown({ ticket, url, settled }: Flow): WebLogin {
  return { id: hash("sha256", ticket, "hex").slice(0, 32), url, settled: settled.promise };
}

/** Without authentication, all programs of this machine are one client. */
function needsToken(identity: Identity): boolean {
  return issuerName(identity) !== "anonymous";
}

function cookieName(ticket: string): string {
  return `toolcrib_login_${hash("sha256", ticket, "hex").slice(0, 16)}`;
}

function hasCookie(header: string | undefined, name: string, value: string): boolean {
  const expected = Buffer.from(`${name}=${value}`);
  return (header ?? "").split(/; */).some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const over: LoginPage = {
  status: 404,
  text: "This page is over, or its answer was used before. Call the tool again to get another one.",
};
