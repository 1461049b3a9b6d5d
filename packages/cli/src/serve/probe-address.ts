/**
 * Checks whether a program could listen on an address, without listening on it: a client that waits for the gateway
 * would connect to what ends at once.
 */

import { createSocket } from "node:dgram";
import { connect } from "node:net";

/** An address without the brackets of IPv6. */
interface Address {
  readonly host: string;
  readonly port: number;
}

/** A program on this machine answers within this time, in milliseconds. */
const answerMs = 500;

/** Returns the code of the error of listening, such as `EADDRINUSE`; undefined when nothing is known against it. */
export async function probeAddress({ host, port }: Address): Promise<string | undefined> {
  const address = { host: host.replace(/^\[(.*)\]$/, "$1"), port };
  return (await findBindError(address)) ?? ((await isAnswered(address)) ? "EADDRINUSE" : undefined);
}

/** Returns the code of the error of binding a UDP socket, which depends on host, port and rights alike. */
function findBindError({ host, port }: Address): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    const settle = (code?: string) => {
      socket.close();
      // Ports of UDP are taken for themselves.
      resolve(code === "EADDRINUSE" ? undefined : code);
    };
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    socket.bind({ address: host, port, exclusive: true }, () => settle());
  });
}

/** Whether a program listens on the address. */
function isAnswered(address: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: answerMs });
    const settle = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    socket.once("timeout", () => settle(false));
  });
}
