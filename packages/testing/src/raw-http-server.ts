/**
 * A programmable MCP server on raw sockets: a script decides about every byte of
 * a response, so a test can break framing, encodings and connections in ways
 * that `node:http` refuses to send. It counts the calls that had an effect.
 * Never listens on anything but 127.0.0.1.
 */

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { TestCertificate } from "./test-certificates.ts";

/** One received request, and the functions that answer it. */
export interface RawExchange {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: string };
  /** The JSON-RPC message; an empty object without a body. */
  readonly rpc: RawRpc;
  readonly socket: Socket;
  /** Number of earlier requests with the same HTTP method and the same RPC method. */
  readonly earlier: number;
  /** Counts an effect of the call, and returns its result. */
  act(): { readonly [name: string]: unknown };
  /** The response to the request as JSON text; by default with the result of `act` or a default result. */
  answer(result?: object): string;
  /** Writes bytes. */
  write(bytes: string | Buffer): void;
  /** Writes a complete response with its length. */
  respond(status: number, headers?: RawHeaders, body?: string | Buffer): void;
  /** Responds with JSON text, by default the answer to the request. */
  json(text?: string, headers?: RawHeaders): void;
  /** Starts a response of chunks, by default an event stream. */
  begin(headers?: RawHeaders, status?: number): void;
  /** Writes one chunk. */
  chunk(bytes: string | Buffer): void;
  /** Writes the chunk that ends the response. */
  finish(): void;
  /** Responds with an event stream that ends after `events`. */
  events(...events: readonly string[]): void;
}

/** The JSON-RPC message of a request. */
export interface RawRpc {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown };
}

/** Header values by name; several fields of one name with a list. */
export interface RawHeaders {
  readonly [name: string]: string | readonly string[];
}

/** Answers a request; `false` leaves it to the default answers. */
export type RawScript = (exchange: RawExchange) => unknown;

/** Options of `startRawServer`. */
export interface RawServerOptions {
  /** Serves HTTPS with this certificate. @default plain HTTP */
  readonly certificate?: TestCertificate;
  /** PEM of the authority whose client certificates are required. @default none is required */
  readonly clientAuthority?: string;
  /** Value of `Mcp-Session-Id`; undefined for none. @default "session-1" */
  readonly sessionId?: string | undefined;
}

/** A running server. Disposing ends its connections. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  /** `METHOD rpc/method` of each request so far. */
  readonly log: readonly string[];
  /** Effects of calls so far. */
  readonly effects: number;
  readonly connectionCount: number;
}

/** Starts a server that passes each request to `script`. */
export async function startRawServer(
  script: RawScript = () => false,
  options: RawServerOptions = {},
): Promise<RawServer> {
  const server = new RawMcpServer(script, options);
  await server.listen();
  return server;
}

/** Formats one event with the given data. */
export function rawEvent(
  data: string,
  fields: { readonly id?: string; readonly event?: string } = {},
): string {
  const id = fields.id === undefined ? "" : `id: ${fields.id}\n`;
  return `${id}${fields.event === undefined ? "" : `event: ${fields.event}\n`}data: ${data}\n\n`;
}

class RawMcpServer implements RawServer {
  readonly log: string[] = [];
  effects = 0;
  connectionCount = 0;
  readonly #script: RawScript;
  readonly #sessionId: string | undefined;
  readonly #scheme: "http" | "https";
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();

  constructor(script: RawScript, options: RawServerOptions) {
    const { certificate, clientAuthority } = options;
    this.#script = script;
    this.#sessionId = "sessionId" in options ? options.sessionId : "session-1";
    this.#scheme = certificate === undefined ? "http" : "https";
    const accept = (socket: Socket) => this.#accept(socket);
    this.#server =
      certificate === undefined
        ? createServer(accept)
        : createTlsServer(
            {
              cert: certificate.certificate,
              key: certificate.key,
              ...(clientAuthority === undefined
                ? undefined
                : { ca: clientAuthority, requestCert: true, rejectUnauthorized: true }),
            },
            accept,
          );
    this.#server.on("tlsClientError", () => {});
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  get origin(): string {
    // Certificates name hosts.
    const host = this.#scheme === "https" ? "localhost" : "127.0.0.1";
    return `${this.#scheme}://${host}:${this.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    this.connectionCount += 1;
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let end = received.indexOf("\r\n\r\n"); end !== -1; end = received.indexOf("\r\n\r\n")) {
        const [line = "", ...fields] = received.subarray(0, end).toString("latin1").split("\r\n");
        const headers = Object.fromEntries(fields.map(parseField));
        const length = Number(headers["content-length"] ?? 0);
        if (received.length < end + 4 + length) return;
        const body = received.subarray(end + 4, end + 4 + length).toString("utf8");
        received = received.subarray(end + 4 + length);
        this.#receive(socket, line, headers, body);
      }
    });
  }

  #receive(socket: Socket, line: string, headers: RawExchange["headers"], body: string): void {
    const [method = "", target = ""] = line.split(" ");
    const rpc = (body === "" ? {} : JSON.parse(body)) as RawRpc;
    const entry = `${method} ${rpc.method ?? (rpc.id === undefined ? "" : "(answer)")}`.trim();
    const earlier = this.log.filter((one) => one === entry).length;
    this.log.push(entry);
    const act = () => {
      this.effects += 1;
      return { content: [{ type: "text", text: "done" }] };
    };
    const exchange = new Exchange({ method, target, headers, rpc, socket, earlier, act });
    if (this.#script(exchange) === false) this.#answer(exchange);
  }

  #answer(exchange: RawExchange): void {
    const { method, rpc } = exchange;
    const sessionId = this.#sessionId;
    if (rpc.method === "initialize") {
      exchange.json(exchange.answer(), sessionId === undefined ? {} : { "mcp-session-id": sessionId });
    } else if (rpc.id !== undefined && rpc.method !== undefined) exchange.json();
    else exchange.respond(method === "GET" ? 405 : method === "DELETE" ? 200 : 202);
  }
}

type ExchangeParts = Pick<
  RawExchange,
  "method" | "target" | "headers" | "rpc" | "socket" | "earlier" | "act"
>;

class Exchange implements RawExchange {
  readonly method: string;
  readonly target: string;
  readonly headers: RawExchange["headers"];
  readonly rpc: RawRpc;
  readonly socket: Socket;
  readonly earlier: number;
  readonly act: RawExchange["act"];

  constructor({ method, target, headers, rpc, socket, earlier, act }: ExchangeParts) {
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.rpc = rpc;
    this.socket = socket;
    this.earlier = earlier;
    this.act = act;
  }

  answer(result: object = defaultResult(this)): string {
    return JSON.stringify({ jsonrpc: "2.0", id: this.rpc.id, result });
  }

  write(bytes: string | Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  respond(status: number, headers: RawHeaders = {}, body: string | Buffer = ""): void {
    this.write(headOf(status, { ...headers, "content-length": String(Buffer.byteLength(body)) }));
    this.write(body);
  }

  json(text = this.answer(), headers: RawHeaders = {}): void {
    this.respond(200, { "content-type": "application/json", ...headers }, text);
  }

  begin(headers: RawHeaders = { "content-type": "text/event-stream" }, status = 200): void {
    this.write(headOf(status, { ...headers, "transfer-encoding": "chunked" }));
  }

  chunk(bytes: string | Buffer): void {
    const length = Buffer.byteLength(bytes);
    if (length === 0) return;
    this.write(Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), Buffer.from(bytes), lineBreak]));
  }

  finish(): void {
    this.write("0\r\n\r\n");
  }

  events(...events: readonly string[]): void {
    this.begin();
    for (const event of events) this.chunk(event);
    this.finish();
  }
}

const lineBreak = Buffer.from("\r\n");

function defaultResult({ rpc, act }: RawExchange): object {
  switch (rpc.method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "raw", version: "1" },
      };
    case "tools/list":
      return { tools: [{ name: "act", inputSchema: { type: "object" } }] };
    case "tools/call":
      return act();
    default:
      return {};
  }
}

function headOf(status: number, headers: RawHeaders): string {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => `${name}: ${one}\r\n`),
  );
  return `HTTP/1.1 ${status} Status\r\n${fields.join("")}\r\n`;
}

function parseField(field: string): readonly [name: string, value: string] {
  const colon = field.indexOf(":");
  return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
}
