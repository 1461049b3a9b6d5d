/** A free port for a program that cannot listen on port 0 and print the actual port. */

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * Returns a port on 127.0.0.1 on which nothing listens now. Another process can
 * take it before it is used, so prefer port 0 for programs that support it.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
