/**
 * Listeners that no request must reach: on the addresses of this machine, on the
 * ports that attacks name. Each connection is recorded and closed at once.
 */

import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";

/** Running sinks. */
export interface Sinks extends AsyncDisposable {
  /** Their addresses, as `address port`. */
  readonly places: readonly string[];
  /** Addresses that another program uses, such as another run of the same test. */
  readonly taken: readonly string[];
  /** The address of each connection, in the order of arrival. */
  readonly reached: readonly string[];
}

/** Returns the addresses of this machine: of its loopback and of its network interfaces. */
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

/** Listens on each of `addresses` and `ports`, except those that are not permitted or in use. */
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
          // Otherwise the port is privileged, or the address was removed.
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
