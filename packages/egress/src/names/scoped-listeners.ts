/**
 * The listeners of a scoped network besides that of the proxy: name servers, and
 * ports at which programs that ignore the proxy of their environment connect to
 * the address of a host, as if they were outside.
 */

import type { Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { type Authority, parseAuthority } from "../authority.ts";
import { EgressError } from "../egress-error.ts";
import type { AllowedHost, ListenPlace } from "../egress-types.ts";
import { toRefusalBytes } from "../proxy/refusal.ts";
import { NameServer } from "./name-server.ts";

const namePort = 53;
const plainPort = 80;
const httpsPort = 443;
/** Ports of the allowed hosts that a sandbox listens at; hosts at others are reached by the proxy alone. @limit program */
const portsMaxCount = 16;

/**
 * Returns the places for a program that may reach `allow`.
 *
 * @param taken a port that the sandbox has a listener at anyway
 */
export function scopedPlaces(allow: readonly AllowedHost[], taken: number): readonly ListenPlace[] {
  const ports = new Set([httpsPort, plainPort, ...allow.flatMap((host) => host.ports ?? [])]);
  ports.delete(taken);
  ports.delete(namePort);
  return [
    ...(["udp", "tcp"] as const).map((protocol) => ({ protocol, address: "127.0.0.1", port: namePort })),
    ...[...ports]
      .slice(0, portsMaxCount)
      .map((port) => ({ protocol: "tcp" as const, address: "0.0.0.0", port })),
  ];
}

/** Dependencies of the listeners. */
export interface ScopedListenersOptions {
  readonly allow: readonly AllowedHost[];
  readonly now: () => number;
  /** Serves a connection to an allowed authority. @throws {EgressError} where it is refused */
  onConnection(connection: Socket, authority: Authority): void;
  /** Receives each refusal. */
  onRefused(host: string, error: EgressError): void;
}

/** Serves the listeners of one sandbox. Disposing closes them. */
export class ScopedListeners implements AsyncDisposable {
  readonly #options: ScopedListenersOptions;
  readonly #names: NameServer;
  readonly #listeners: Server[] = [];
  #isDisposed = false;

  constructor(options: ScopedListenersOptions) {
    const { allow, now, onRefused } = options;
    this.#options = options;
    this.#names = new NameServer({
      allow,
      now,
      onRefused: (name) => onRefused(name, unknownName(name)),
    });
  }

  /** Serves a listener that the sandbox opened at `place`. After the end it closes it. */
  take(listener: Server | DatagramSocket, { port }: ListenPlace): void {
    if (this.#isDisposed) listener.close();
    else if ("send" in listener) this.#names.serveDatagrams(listener);
    else if (port === namePort) this.#names.serveConnections(listener);
    else this.#serve(listener, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#names[Symbol.dispose]();
    await Promise.all(
      this.#listeners.map(async (listener) => {
        const closed = once(listener, "close");
        listener.close();
        await closed;
      }),
    );
  }

  #serve(listener: Server, port: number): void {
    this.#listeners.push(listener);
    listener.on("error", () => {});
    listener.on("connection", (connection: Socket) => {
      connection.on("error", () => connection.destroy());
      const host = this.#names.addresses.hostAt(connection.localAddress ?? "");
      try {
        if (host === undefined) throw noHost(connection.localAddress ?? "");
        if (port === plainPort && !this.#isAllowedAt(port)) throw plainHttp(host);
        this.#options.onConnection(connection, parseAuthority(`${host}:${port}`));
      } catch (error) {
        if (!(error instanceof EgressError)) throw error;
        this.#options.onRefused(host ?? connection.localAddress ?? "", error);
        // A program in plain HTTP can read the reason; one in TLS sees a connection that ends.
        if (port === plainPort) connection.end(toRefusalBytes(error));
        connection.destroySoon();
      }
    });
  }

  /** Whether an entry of the list names `port` itself. */
  #isAllowedAt(port: number): boolean {
    return this.#options.allow.some(({ ports }) => ports?.includes(port) === true);
  }
}

function unknownName(name: string): EgressError {
  return new EgressError(
    "EGRESS_HOST_DENIED",
    `Cannot look up "${name.slice(0, 100)}": it is not an allowed host`,
  );
}

function noHost(address: string): EgressError {
  return new EgressError(
    "EGRESS_HOST_DENIED",
    `Cannot connect to "${address}": no allowed host has this address here`,
  );
}

function plainHttp(host: string): EgressError {
  return new EgressError("EGRESS_PLAIN_HTTP", `Cannot pass on a request to "${host}" in plain HTTP`, {
    hint: "use https:// URLs; plain HTTP can be read and changed in transit",
  });
}
