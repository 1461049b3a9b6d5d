/**
 * Listeners that nobody should reach: on the addresses of this machine, on
 * ports that attacks name. Each connection is remembered, and ended at once.
 */

import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";

/** Running sinks. */
export interface Sinks extends AsyncDisposable {
  /** Where they listen, as `address port`. */
  readonly places: readonly string[];
  /** Where another program listens, such as another run of the same test. */
  readonly taken: readonly string[];
  /** The place of each connection that came, in their order. */
  readonly reached: readonly string[];
}

/** Addresses of this machine: of its loopback, and those that others know it by. */
export function ownAddresses(): readonly string[] {
  const outer = Object.entries(networkInterfaces()).flatMap(([name, found]) =>
    (found ?? [])
      .filter(({ internal }) => !internal)
      .map(({ address, scopeid }) =>
        scopeid === undefined || scopeid === 0 ? address : `${address}%${name}`,
      ),
  );
  return ["127.0.0.1", "127.0.0.2", "::1", ...outer];
}

/** Listen on each of `addresses` and `ports`, but where this machine does not let us, or another program listens. */
export async function startSinks(addresses: readonly string[], ports: readonly number[]): Promise<Sinks> {
  const reached: string[] = [];
  const taken: string[] = [];
  const servers: Server[] = [];
  const places = await Promise.all(
    addresses.flatMap((address) =>
      ports.map(async (port) => {
        const place = `${address} ${port}`;
        const server = createServer((socket) => {
          reached.push(place);
          socket.on("error", () => {});
          socket.destroy();
        });
        server.listen({ host: address, port, ipv6Only: true });
        try {
          await once(server, "listening");
        } catch (error) {
          // Else it is privileged, or the address has gone.
          if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") taken.push(place);
          return undefined;
        }
        servers.push(server);
        return place;
      }),
    ),
  );
  return {
    places: places.filter((place) => place !== undefined),
    taken,
    reached,
    async [Symbol.asyncDispose]() {
      await Promise.all(
        servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      );
    },
  };
}
