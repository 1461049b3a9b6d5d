/** A port in use, and a port on which nothing listens. */

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { freePort } from "@toolcrib/testing";

/** Listens until it is disposed of. */
export interface LoopbackServer extends AsyncDisposable {
  readonly port: number;
  readonly deadPort: number;
}

export async function startLoopbackServer(): Promise<LoopbackServer> {
  const deadPort = await freePort();
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    deadPort,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}
