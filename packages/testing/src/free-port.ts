/** A port for a program that cannot listen on port 0 and say what it got. */

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * A port on 127.0.0.1 that nothing listens on right now. Another process can
 * take it before it is used: prefer port 0 wherever the program allows it.
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
