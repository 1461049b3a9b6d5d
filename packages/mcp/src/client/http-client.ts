/**
 * Connections of HTTP transports. Each session has connections of its own, and
 * streams that stay open (GET, `subscriptions/listen`) never share connections
 * with calls, so neither other servers of the origin nor idle streams delay a call.
 */

import { createRequire } from "node:module";
import type { Socket } from "node:net";
import type { Agent as AgentType, buildConnector, Dispatcher } from "undici";
import { McpError } from "../mcp-error.ts";
import { createProxyDispatcher } from "./proxy-dispatcher.ts";

/** Options of an HTTP client. */
export interface HttpClientOptions {
  /** Maximum number of connections of one session to one origin for calls, and as many for streams. @default 256 */
  readonly maxConnectionsPerOrigin?: number;
  /** Milliseconds to connect. @default 10,000 */
  readonly connectTimeoutMs?: number;
  /** Unix domain socket, or named pipe, to connect to instead of the address of the URL. */
  readonly socketPath?: string;
  /** PEM certificates of authorities that are trusted in addition to those of Node, for all sessions. @default none */
  readonly ca?: string;
  /**
   * Whether requests may be sent on a new connection; called before anything is. One that is refused is closed, and its
   * requests fail with `MCP_UNREACHABLE`. Not called for connections through a proxy. @default all may
   */
  readonly mayUse?: (socket: Socket) => Promise<boolean>;
}

/** The network path to one server, with secrets resolved. */
export interface NetworkSettings {
  /** URL of an HTTP proxy: https requests are tunnelled with CONNECT, others are forwarded. @default no proxy */
  readonly proxy?: string;
  /** PEM certificates of authorities that are trusted in addition to the others. @default none */
  readonly ca?: string;
  /** PEM certificate chain and key of the client (mutual TLS). @default none */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
}

/** Largest header of a response in bytes. @limit server */
const headerMaxBytes = 64 * 1024;

/** Opens connections for sessions, and closes them all with `destroy`. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #open = new Set<HttpConnections>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Returns the connections of one session. Nothing is connected before the first request. */
  connect(network: NetworkSettings = {}): HttpConnections {
    const connections = new HttpConnections(this.#options, network, () => this.#open.delete(connections));
    this.#open.add(connections);
    return connections;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#open].map((connections) => connections.close()));
  }
}

/** Creates a client. Call `destroy()` to dispose of it. */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  return new HttpClient(options);
}

/** The connections of one session. */
export class HttpConnections {
  readonly #options: HttpClientOptions;
  readonly #network: NetworkSettings;
  readonly #onClose: () => void;
  #calls: Dispatcher | undefined;
  #streams: Dispatcher | undefined;
  #isClosed = false;

  constructor(options: HttpClientOptions, network: NetworkSettings, onClose: () => void) {
    this.#options = options;
    this.#network = network;
    this.#onClose = onClose;
  }

  /** Connections for requests with a response that ends. */
  get calls(): Dispatcher {
    this.#calls ??= this.#createDispatcher();
    return this.#calls;
  }

  /** Connections for streams that stay open. */
  get streams(): Dispatcher {
    this.#streams ??= this.#createDispatcher();
    return this.#streams;
  }

  /** Ends all connections. Safe to repeat. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    await Promise.all([this.#calls?.destroy(), this.#streams?.destroy()]);
  }

  #createDispatcher(): Dispatcher {
    // The parts of undici in use, loaded with the first connections: loading the whole package takes twice as long.
    const require = createRequire(import.meta.url);
    const request = require("undici/lib/api/api-request.js") as Dispatcher["request"];
    const Agent = require("undici/lib/dispatcher/agent.js") as typeof AgentType;
    const { maxConnectionsPerOrigin = 256, connectTimeoutMs = 10_000, socketPath, mayUse } = this.#options;
    const { proxy } = this.#network;
    const tls = tlsOptions(this.#options.ca, this.#network);
    const connect = { timeout: connectTimeoutMs, socketPath, ...tls };
    const limits = {
      connections: maxConnectionsPerOrigin,
      // One request at a time on a connection: a stream must not delay a call.
      pipelining: 1,
      maxHeaderSize: headerMaxBytes,
    };
    const dispatcher =
      proxy === undefined
        ? new Agent({ ...limits, connect: mayUse === undefined ? connect : connectorOf(connect, mayUse) })
        : createProxyDispatcher({
            ...limits,
            uri: proxy,
            connectTimeout: connectTimeoutMs,
            requestTls: tls,
            proxyTls: authoritiesOnly(tls),
          });
    // The full undici package adds this method to its dispatchers when it is loaded.
    return Object.assign(dispatcher, { request });
  }
}

/** Returns a function that connects, and hands on a connection once it may be used. */
function connectorOf(
  options: buildConnector.BuildOptions,
  mayUse: NonNullable<HttpClientOptions["mayUse"]>,
): buildConnector.connector {
  const require = createRequire(import.meta.url);
  const build = require("undici/lib/core/connect.js") as typeof buildConnector;
  const connect = build(options);
  return (target, callback) =>
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null);
      const refuse = (cause?: unknown) => {
        socket.destroy();
        const { host } = target;
        const text = `The program that listens at ${host ?? target.hostname} is not the one that is meant`;
        callback(new McpError("MCP_UNREACHABLE", text, { cause }), null);
      };
      void mayUse(socket)
        .then((may) => may && !socket.destroyed)
        .then((may) => (may ? callback(null, socket) : refuse()), refuse);
    });
}

interface TlsOptions {
  readonly ca?: string[];
  readonly cert?: string;
  readonly key?: string;
}

/** Node's module of TLS takes 3 MB, so that it is loaded with the first connection that needs it. */
function defaultAuthorities(): readonly string[] {
  return process.getBuiltinModule("node:tls").getCACertificates("default");
}

function tlsOptions(commonCa: string | undefined, { ca, clientCertificate }: NetworkSettings): TlsOptions {
  const added = [commonCa, ca].filter((one) => one !== undefined);
  return {
    // A list replaces the authorities of Node, so it has to contain them.
    ...(added.length === 0 ? undefined : { ca: [...defaultAuthorities(), ...added] }),
    ...(clientCertificate === undefined
      ? undefined
      : { cert: clientCertificate.certificate, key: clientCertificate.key }),
  };
}

/** Returns the options for the connection to a proxy, which does not get the certificate of the client. */
function authoritiesOnly({ ca }: TlsOptions): TlsOptions {
  return ca === undefined ? {} : { ca };
}
