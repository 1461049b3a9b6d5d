/**
 * Relays TLS without reading it: for hosts whose entry says `tls: passthrough`.
 * The name in the first message of the client must be the host that it asked for,
 * and no encrypted name may stand beside it. Nothing after that message is read,
 * so a server that serves several hosts can be asked for another one inside
 * (domain fronting), and placeholders for secrets are not replaced.
 *
 * Bytes, time without traffic and the time of the first message are limited.
 */

import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { canonicalHost } from "@toolcrib/hosts";
import { EgressError } from "../egress-error.ts";
import type { ProxyLimits } from "../proxy/proxy-limits.ts";
import { type ClientHello, ClientHelloReader, type InvalidHello } from "./client-hello.ts";

/** The inputs of a relay. */
export interface RelayOptions {
  /** The host that the client asked for: a name, or an address that an operator's setting names. */
  readonly host: string;
  readonly limits: ProxyLimits;
  /** Connects to the host. */
  connect(signal: AbortSignal): Promise<Socket>;
  /** Receives the reason before the client is refused. */
  onRefused(error: unknown): void;
}

/** Fatal alerts (RFC 8446 section 6.2): `unrecognized_name`, and `access_denied` where there is no connection. */
const alerts = { name: 112, connection: 49 } as const;

/** Relays `client`, which has sent nothing yet, or whose first bytes are still to be read. */
export async function relayTls(client: Duplex, options: RelayOptions): Promise<void> {
  const { limits, connect, onRefused } = options;
  const controller = new AbortController();
  client.once("close", () =>
    controller.abort(new EgressError("EGRESS_CLOSED", "The client closed the connection")),
  );
  client.on("error", () => client.destroy());
  let alert: number = alerts.name;
  try {
    const first = await readFirst(client, options);
    alert = alerts.connection;
    const server = await connect(controller.signal);
    join(client, server, limits);
    server.write(first);
    client.resume();
  } catch (error) {
    if (controller.signal.aborted) return;
    onRefused(error);
    client.end(Buffer.from([21, 3, 3, 0, 2, 2, alert]), () => {
      if (client.readableEnded) client.destroy();
    });
    // Unread bytes would turn the end into a reset, which discards the alert.
    client.resume();
    const timer = setTimeout(() => client.destroy(), limits.handshakeTimeoutMs);
    client.once("end", () => client.destroy());
    client.once("close", () => clearTimeout(timer));
  }
}

/** Relays `client` as it is, to an origin in plain HTTP that an operator's setting names. */
export async function relayBytes(
  client: Duplex,
  { limits, connect, onRefused }: RelayOptions,
): Promise<void> {
  const controller = new AbortController();
  client.once("close", () => controller.abort());
  client.on("error", () => client.destroy());
  try {
    join(client, await connect(controller.signal), limits);
  } catch (error) {
    if (!controller.signal.aborted) onRefused(error);
    client.destroy();
  }
}

/** Reads the first message and checks it. Leaves the client paused. @returns all bytes that were read */
async function readFirst(client: Duplex, { host, limits }: RelayOptions): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const reader = new ClientHelloReader();
  const pieces: Buffer[] = [];
  const onData = (piece: Buffer): void => {
    pieces.push(piece);
    const hello = reader.push(piece);
    if (hello === undefined) return;
    client.pause();
    const problem = problemOf(hello, host);
    if (problem === undefined) resolve(Buffer.concat(pieces));
    else reject(mismatch(host, problem));
  };
  const onEnd = (): void => reject(mismatch(host, "the client ended before its first message was complete"));
  const timer = setTimeout(
    () => reject(mismatch(host, "the client did not send its first message in time")),
    limits.handshakeTimeoutMs,
  );
  client.on("data", onData).once("end", onEnd).once("close", onEnd);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    client.off("data", onData).off("end", onEnd).off("close", onEnd);
  }
}

/** Returns why a client may not be relayed; undefined when it may. */
function problemOf(hello: ClientHello | InvalidHello, host: string): string | undefined {
  if (hello.kind === "invalid") return hello.reason;
  const { serverName, hasEncryptedName } = hello;
  if (hasEncryptedName) return "it sends an encrypted name (ECH), which cannot be checked";
  // An address is asked for without a name.
  if (serverName === undefined)
    return canonicalHost(host) === undefined ? undefined : "it sends no name (SNI)";
  if (serverName.toLowerCase() === host) return undefined;
  return "the name in its handshake (SNI) is another one";
}

/** Connects both sides until one of them ends. */
function join(client: Duplex, server: Socket, { idleTimeoutMs, relayMaxBytes }: ProxyLimits): void {
  let bytes = 0;
  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  const count = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > relayMaxBytes) end();
  };
  server.setTimeout(idleTimeoutMs, end);
  server.on("error", end).on("data", count);
  client.on("data", count).once("close", () => server.destroy());
  // What arrived before a regular end is still written.
  server.once("close", (hadError) => (hadError ? client.destroy() : client.end()));
  client.pipe(server);
  server.pipe(client);
}

function mismatch(host: string, problem: string): EgressError {
  return new EgressError("EGRESS_AUTHORITY_MISMATCH", `Cannot pass TLS to "${host}" through: ${problem}`, {
    hint: "the client must speak TLS, name the host in its handshake (SNI), and use no ECH",
  });
}
