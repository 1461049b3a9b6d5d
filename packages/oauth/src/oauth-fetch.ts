/**
 * The HTTP requests of OAuth: to the metadata of a server and to its authorization server. Texts of
 * the server name these URLs, so each connection is checked: https, to a public address or to the
 * host that the operator wrote into the configuration. A redirect is followed within its origin, and
 * for GET only. Times and sizes are limited.
 *
 * It logs nothing, and no error contains a query, a body or a header.
 */

import { lookup as lookupHost } from "node:dns";
import type { Agent, IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { getCACertificates, type TLSSocket } from "node:tls";
import { messageOf } from "@toolcrib/diagnostics";
import { AddressRules, isMetadataAddress } from "@toolcrib/egress";
import { OAuthError } from "./oauth-error.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { Agent: HttpAgent, request: httpRequest } = process.getBuiltinModule("node:http");

/** The addresses and certificates of the requests for one server. */
export interface OAuthNetwork {
  /** URLs that the operator wrote: the server, and its authorization server if that is configured. */
  readonly trustedUrls: readonly string[];
  /** CIDR ranges that are allowed although they are not public (`egress.internal_ranges`). */
  readonly internalRanges: readonly string[];
  /** PEM certificates of authorities that are trusted in addition to the default ones. */
  readonly ca?: readonly string[] | undefined;
  /** URL of an HTTP proxy; it resolves the names. @default a direct connection */
  readonly proxy?: string | undefined;
}

/** Milliseconds for one request with its response. @limit server */
const requestTimeoutMs = 15_000;
/** Largest body of a response in bytes. @limit server */
const bodyMaxBytes = 512 * 1024;
/** Redirects of one request to an authorization server. @limit server */
const maxRedirects = 3;

/** A function like `fetch`, as `oauth4webapi` and `jose` take it. */
export type OAuthFetch = (
  url: string,
  options?: {
    readonly method?: string;
    readonly headers?: ConstructorParameters<typeof Headers>[0];
    readonly body?: unknown;
    readonly signal?: AbortSignal | undefined;
    /** Gets the end of the validity of the certificate of the host, in milliseconds since the epoch. */
    readonly onCertificate?: (endsAt: number) => void;
    /** Gets the number of bytes of each part of a body that is read, also of redirects and of bodies that are too large. */
    readonly onBytes?: ((count: number) => void) | undefined;
  },
) => Promise<Response>;

/** Creates the function that sends requests to `network`. It keeps no connection open. */
export function createOAuthFetch(network: OAuthNetwork): OAuthFetch {
  const rules = new ConnectionRules(network);
  return async (url, options = {}) => {
    const { method = "GET", headers, body, signal, onCertificate, onBytes } = options;
    const given = Object.fromEntries(new Headers(headers).entries());
    const text = body === undefined || body === null ? undefined : String(body);
    let target = parseUrl(url);
    for (let followed = 0; ; followed += 1) {
      const timeout = AbortSignal.timeout(requestTimeoutMs);
      const response = await send(target, rules, {
        method,
        headers: given,
        body: text,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        onCertificate,
        onBytes,
      });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || response.status === 304) return response;
      target = redirectTarget(target, location, method, followed);
    }
  };
}

/** Returns the URL to continue at. @throws {OAuthError} `OAUTH_ADDRESS_REFUSED` */
function redirectTarget(from: URL, location: string | null, method: string, followed: number): URL {
  const to = location !== null && URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (method === "GET" && to?.origin === from.origin && followed < maxRedirects) return to;
  const where =
    to === undefined || to.origin === from.origin ? "too often, or in answer to a form" : `to ${to.origin}`;
  throw new OAuthError(
    "OAUTH_ADDRESS_REFUSED",
    `${shownUrl(from)} redirects ${where}, which is not followed`,
    {
      hint: "correct the URL of the authorization server, or name it with transport.auth.issuer",
    },
  );
}

/** Decides which connections are allowed. */
class ConnectionRules {
  readonly agents: { readonly http: Agent; readonly https: HttpsAgent };
  readonly #trustedHosts: ReadonlySet<string>;
  readonly #httpHosts: ReadonlySet<string>;
  readonly #mayLoopback: boolean;
  readonly #addresses: AddressRules;
  readonly hasProxy: boolean;

  constructor({ trustedUrls, internalRanges, ca, proxy }: OAuthNetwork) {
    const urls = trustedUrls.map((url) => new URL(url));
    this.#trustedHosts = new Set(urls.map(({ hostname }) => hostname));
    this.#httpHosts = new Set(urls.filter(({ protocol }) => protocol === "http:").map(({ host }) => host));
    this.#mayLoopback = urls.some(({ hostname }) => isLoopback(hostname));
    this.#addresses = new AddressRules(internalRanges);
    this.hasProxy = proxy !== undefined;
    const proxyEnv = proxy === undefined ? undefined : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
    const authorities =
      ca === undefined || ca.length === 0 ? {} : { ca: [...getCACertificates("default"), ...ca] };
    this.agents = {
      http: new HttpAgent({ keepAlive: false, proxyEnv }),
      https: new HttpsAgent({ keepAlive: false, proxyEnv, ...authorities }),
    };
  }

  /** Checks everything but the addresses of a name. @throws {OAuthError} `OAUTH_ADDRESS_REFUSED` */
  checkUrl(url: URL): void {
    const { protocol, hostname, host } = url;
    if (url.username !== "" || url.password !== "")
      throw refused(url, "it contains a user name or a password");
    const isOwnLoopback = this.#mayLoopback && isLoopback(hostname);
    if (protocol !== "https:" && !(protocol === "http:" && (isOwnLoopback || this.#httpHosts.has(host)))) {
      throw refused(url, "it is not https");
    }
    const literal = hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(literal) !== 0) this.checkAddress(url, literal);
    else if (isLoopback(hostname)) this.checkAddress(url, "127.0.0.1");
  }

  /** @throws {OAuthError} `OAUTH_ADDRESS_REFUSED` */
  checkAddress(url: URL, address: string): void {
    const { hostname } = url;
    if (this.#trustedHosts.has(hostname)) return;
    if (this.#mayLoopback && isLoopback(hostname)) return;
    if (isMetadataAddress(address)) throw refused(url, "its address is that of the metadata of a cloud");
    const verdict = this.#addresses.check(address);
    if (verdict.kind === "denied") throw refused(url, `its address is not public (${verdict.range})`);
  }

  /** Resolves a name and checks each address, so that the connection uses an address that was checked. */
  lookup(url: URL): LookupFunction {
    return (hostname, options, callback) => {
      lookupHost(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) {
          callback(error, []);
          return;
        }
        try {
          for (const { address } of addresses) this.checkAddress(url, address);
        } catch (refusal) {
          callback(refusal as NodeJS.ErrnoException, []);
          return;
        }
        const [first] = addresses;
        if (options.all === true || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    };
  }
}

const switched = "it answers HTTP 101 and changes the protocol, which was not asked for";

interface OAuthRequest {
  readonly method: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  readonly onCertificate: ((endsAt: number) => void) | undefined;
  readonly onBytes: ((count: number) => void) | undefined;
}

/** @throws {OAuthError} `OAUTH_ADDRESS_REFUSED`, `OAUTH_UNREACHABLE` */
async function send(
  url: URL,
  rules: ConnectionRules,
  { method, headers, body, signal, onCertificate, onBytes }: OAuthRequest,
): Promise<Response> {
  rules.checkUrl(url);
  signal.throwIfAborted();
  const isTls = url.protocol === "https:";
  const options: RequestOptions = {
    method,
    headers: {
      ...headers,
      "accept-encoding": "identity",
      ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    },
    agent: isTls ? rules.agents.https : rules.agents.http,
    signal,
    maxHeaderSize: 32 * 1024,
    ...(rules.hasProxy ? {} : { lookup: rules.lookup(url) }),
  };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = (isTls ? httpsRequest : httpRequest)(url, options, resolve);
      outgoing.on("error", reject);
      outgoing.on("upgrade", (_answer, socket) => {
        socket.destroy();
        reject(new Error(switched));
      });
      // Without a response and without an error, nothing else settles the promise.
      outgoing.once("close", () => reject(new Error("the connection ended without a response")));
      outgoing.end(body);
    });
    // Without the header "upgrade", Node takes it for a response.
    if (response.statusCode === 101) {
      response.destroy();
      throw new Error(switched);
    }
    const certificate = isTls ? (response.socket as TLSSocket).getPeerCertificate() : undefined;
    const endsAt = Date.parse(certificate?.valid_to ?? "");
    if (!Number.isNaN(endsAt)) onCertificate?.(endsAt);
    return await toResponse(url, response, onBytes);
  } catch (cause) {
    if (cause instanceof OAuthError) throw cause;
    const isLate = signal.aborted && signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    if (signal.aborted && !isLate) throw signal.reason;
    const reason = isLate ? "no response in time" : messageOf(cause);
    throw new OAuthError("OAUTH_UNREACHABLE", `Cannot reach ${shownUrl(url)}: ${reason}`, {
      cause,
      hint: "check the connection of this machine, and transport.proxy",
    });
  }
}

async function toResponse(
  url: URL,
  message: IncomingMessage,
  onBytes: OAuthRequest["onBytes"],
): Promise<Response> {
  const chunks: Buffer[] = [];
  let length = 0;
  const isStream = /^text\/event-stream\b/i.test(message.headers["content-type"] ?? "");
  const stream = isStream ? new FirstEvent() : undefined;
  for await (const chunk of message) {
    length += (chunk as Buffer).length;
    onBytes?.((chunk as Buffer).length);
    if (length > bodyMaxBytes) {
      message.destroy();
      throw new OAuthError(
        "OAUTH_UNREACHABLE",
        `The response of ${shownUrl(url)} is larger than ${bodyMaxBytes} bytes`,
        {
          hint: "it is no metadata and no token; check the URL of the authorization server",
        },
      );
    }
    chunks.push(chunk as Buffer);
    // The answer is the first message, and some servers keep the stream open after it.
    if (stream?.isMessage(chunk as Buffer) === true) break;
  }
  const headers = new Headers();
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at] as string, message.rawHeaders[at + 1] as string);
  }
  const status = message.statusCode ?? 502;
  const hasBody = status !== 204 && status !== 304 && status >= 200;
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status: Math.max(status, 200), headers });
}

/** Finds the end of the first event with data in a stream. Reads each byte once. */
class FirstEvent {
  #line = "";
  #hasData = false;

  /** @returns whether `chunk` ends it */
  isMessage(chunk: Buffer): boolean {
    const [first = "", ...more] = chunk.toString("latin1").split("\n");
    this.#line += first;
    for (const next of more) {
      const line = this.#line.trimEnd();
      if (line === "" && this.#hasData) return true;
      if (line.startsWith("data:") && line.length > "data:".length) this.#hasData = true;
      this.#line = next;
    }
    return false;
  }
}

/** Whether a host, as a URL spells it, is this machine by its name or address. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d+){3}$/.test(hostname)
  );
}

function refused(url: URL, reason: string): OAuthError {
  return new OAuthError("OAUTH_ADDRESS_REFUSED", `Cannot use ${shownUrl(url)}: ${reason}`, {
    hint: "if you trust it, name the authorization server with transport.auth.issuer, or its range with egress.internal_ranges",
  });
}

/** @throws {OAuthError} `OAUTH_ADDRESS_REFUSED` */
function parseUrl(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new OAuthError(
    "OAUTH_ADDRESS_REFUSED",
    `Cannot use ${JSON.stringify(text.slice(0, 200))}: it is not a URL`,
  );
}

/** The URL without its query, for messages. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 300);
}
