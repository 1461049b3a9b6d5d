/** Checks whether a program can listen on an address, by doing so for a moment. */

import { createServer } from "node:net";

/** Returns the code of the error of listening, such as `EADDRINUSE`; undefined when the address is free. */
export function probeAddress({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<string | undefined> {
  return new Promise((resolve) => {
    // A client that connects in this moment must not keep the address busy.
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: host.replace(/^\[(.*)\]$/, "$1"), port, exclusive: true }, () =>
      server.close(() => resolve(undefined)),
    );
  });
}
