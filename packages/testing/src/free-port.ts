/** A free port for a program that cannot listen on port 0 and print the actual port, and for an address that refuses. */

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Ports that no system gives to a connection or to a listener on port 0, as long as its settings are the usual ones:
 * those begin at 32768 on Linux, and at 49152 elsewhere.
 */
const [firstPort, endPort] = [10_000, 32_768];
const attemptsMax = 100;

/**
 * Returns a random port on 127.0.0.1 on which nothing listens now, and that tests which run beside this one do not
 * get for a connection. Another program can take it before it is used, so prefer port 0 for programs that support it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = randomInt(firstPort, endPort);
    const server = createServer();
    try {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    } catch {
      // Something listens there.
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
  assert.fail(`No port from ${firstPort} to ${endPort - 1} is free`);
}
