/**
 * Sends requests through the HTTPS proxy of the environment: a CONNECT tunnel with
 * TLS inside, verified against the trusted roots. Each request uses its own
 * connection. Never follows a redirect and never retries.
 */

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, type Transform } from "node:stream";
import type { SecureContext, TLSSocket } from "node:tls";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { SendRequest } from "@toolcrib/toolpack";
import { CliError } from "../cli-error.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { request: openRequest } = process.getBuiltinModule("node:http");

/** The address of an HTTPS proxy. */
export interface HttpsProxy {
  readonly host: string;
  readonly port: number;
  /** Value of `Proxy-Authorization`, if the address has a user. */
  readonly authorization: string | undefined;
}

/** Size after which reading of a body stops, in bytes. */
const bodyMaxBytes = 64 * 1024 * 1024;
/** Maximum number of bytes of a refusal that an error shows. */
const refusalMaxBytes = 2048;

/**
 * Returns the proxy of the variable `own`, otherwise of `HTTPS_PROXY`, otherwise of `https_proxy`, if one is set.
 *
 * @param own a variable that comes before those that all programs share
 * @throws {CliError} `CLI_USAGE` for an address that is not an HTTP proxy.
 */
export function findHttpsProxy(
  env: { readonly [name: string]: string | undefined },
  own = "HTTPS_PROXY",
): HttpsProxy | undefined {
  const name = [own, "HTTPS_PROXY", "https_proxy"].find((one) => (env[one]?.trim() ?? "") !== "");
  const text = name === undefined ? "" : (env[name]?.trim() ?? "");
  if (text === "") return undefined;
  const address = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // Do not show the address: it may contain a password.
  if (url?.protocol !== "http:" || url.hostname === "") {
    throw new CliError("CLI_USAGE", `${name} is not the address of an HTTP proxy`, {
      hint: "write it as http://host:port",
    });
  }
  const user = userOf(url);
  if (user === undefined) {
    throw new CliError("CLI_USAGE", `${name} has a percent sign that encodes no character`, {
      hint: "write a percent sign in the user or password as %25",
    });
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 80 : Number(url.port),
    authorization: user === ":" ? undefined : `Basic ${Buffer.from(user).toString("base64")}`,
  };
}

/** Returns the decoded user and password, `:` without both; undefined where they cannot be decoded. */
function userOf({ username, password }: URL): string | undefined {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return undefined;
  }
}

/** Creates a function that sends requests through `proxy`. @param roots trusted certificates, PEM */
export function createProxiedSend(proxy: HttpsProxy, roots: readonly string[]): SendRequest {
  // Parsing all roots takes longer than a handshake, so do it once.
  let trust: SecureContext | undefined;
  return async (request) => {
    const hostname = hostOf(request.url);
    const tunnel = await openTunnel(proxy, hostname, request.signal);
    try {
      trust ??= process.getBuiltinModule("node:tls").createSecureContext({ ca: [...roots] });
      return await sendWithin(await secure(tunnel, hostname, trust, request.signal), request);
    } catch (error) {
      request.signal.throwIfAborted();
      if (isCodedError(error)) throw error;
      throw unusable(`Cannot reach ${hostname} through the proxy: ${messageOf(error)}`, undefined, error);
    } finally {
      tunnel.destroy();
    }
  };
}

/** Returns the host of `url`, which must use the default port. @throws {CliError} `CLI_PROXY_UNUSABLE` */
function hostOf(url: string): string {
  const { protocol, host, hostname } = new URL(url);
  // A tunnel connects to port 443 of a host, so other URLs cannot use it.
  if (protocol === "https:" && host === hostname && hostname !== "") return hostname;
  throw unusable(
    "Cannot send the request through the proxy: its URL is not https:// with a host and the default port",
    undefined,
  );
}

function unusable(message: string, hint: string | undefined, cause?: unknown): CliError {
  return new CliError("CLI_PROXY_UNUSABLE", message, { ...(hint === undefined ? {} : { hint }), cause });
}

/** Opens a connection to `hostname` with CONNECT. */
async function openTunnel(proxy: HttpsProxy, hostname: string, signal: AbortSignal): Promise<Duplex> {
  const authority = `${hostname}:443`;
  const { authorization } = proxy;
  const connect = openRequest({
    host: proxy.host,
    port: proxy.port,
    method: "CONNECT",
    path: authority,
    headers: {
      Host: authority,
      ...(authorization === undefined ? {} : { "Proxy-Authorization": authorization }),
    },
    agent: false,
    signal,
  });
  connect.end();
  let answer: readonly [IncomingMessage, Duplex, Buffer];
  try {
    answer = (await once(connect, "connect")) as unknown as typeof answer;
  } catch (cause) {
    signal.throwIfAborted();
    const hint = "check HTTPS_PROXY in the environment";
    throw unusable(`Cannot reach the proxy: ${messageOf(cause)}`, hint, cause);
  }
  const [response, socket, head] = answer;
  if (response.statusCode === 200) {
    if (head.length > 0) socket.unshift(head);
    return socket;
  }
  const reason = await readRefusal(response, socket, head);
  socket.destroy();
  throw unusable(
    `The proxy refuses requests to ${hostname}: HTTP ${response.statusCode}${reason === "" ? "" : `: ${reason}`}`,
    "the proxy decides which hosts are allowed",
  );
}

/** Reads the start of the body of a refused CONNECT, which Node leaves on the connection. */
async function readRefusal(response: IncomingMessage, socket: Duplex, head: Buffer): Promise<string> {
  const declared = Number(response.headers["content-length"] ?? refusalMaxBytes);
  const length = Math.min(refusalMaxBytes, Number.isSafeInteger(declared) ? declared : refusalMaxBytes);
  const pieces = [head];
  let left = length - head.length;
  for await (const piece of left > 0 ? (socket as AsyncIterable<Buffer>) : []) {
    pieces.push(piece);
    left -= piece.length;
    if (left <= 0) break;
  }
  return Buffer.concat(pieces).subarray(0, length).toString("utf8").trim();
}

/** Starts TLS in `tunnel`, and verifies the certificate of `hostname`. */
async function secure(
  tunnel: Duplex,
  hostname: string,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const socket = process.getBuiltinModule("node:tls").connect({
    socket: tunnel,
    servername: hostname,
    secureContext,
    ALPNProtocols: ["http/1.1"],
  });
  // The code that waits for the response reports the error.
  socket.on("error", () => {});
  await once(socket, "secureConnect", { signal });
  return socket;
}

async function sendWithin(socket: TLSSocket, request: Parameters<SendRequest>[0]): ReturnType<SendRequest> {
  const { method, url, headers, body, signal, maxBytes } = request;
  const { host, origin } = new URL(url);
  const outgoing = openRequest({
    createConnection: () => socket,
    method,
    // Send the planned path unchanged, without parsing it as a URL.
    path: url.slice(origin.length),
    headers: {
      Host: host,
      ...headers,
      ...(body === undefined ? {} : { "Content-Length": String(body.length) }),
      Connection: "close",
    },
    setDefaultHeaders: false,
    signal,
  });
  // The code that reads the body reports errors after the response head.
  outgoing.on("error", () => {});
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const { pieces, totalBytes } = await readBody(response, maxBytes);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(", ") : value,
      ]),
    ),
    body: Buffer.concat(pieces),
    totalBytes,
  };
}

/** Reads and decompresses a body. Returns its first `maxBytes`, and the number of bytes read. */
async function readBody(
  response: IncomingMessage,
  maxBytes: number,
): Promise<{ readonly pieces: readonly Buffer[]; readonly totalBytes: number }> {
  const decoder = decoderOf(response.headers["content-encoding"]);
  const body: AsyncIterable<Buffer> =
    decoder === undefined ? response : pipeline(response, decoder, () => {});
  const pieces: Buffer[] = [];
  let totalBytes = 0;
  for await (const piece of body) {
    const left = maxBytes - totalBytes;
    if (left > 0) pieces.push(piece.subarray(0, left));
    totalBytes += piece.length;
    if (totalBytes >= bodyMaxBytes) break;
  }
  return { pieces, totalBytes };
}

/** Returns the decoder for an encoding. Requests ask for none, but some services compress anyway. */
function decoderOf(encoding: string | undefined): Transform | undefined {
  const { createBrotliDecompress, createGunzip, createInflate } = process.getBuiltinModule("node:zlib");
  switch (encoding?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
