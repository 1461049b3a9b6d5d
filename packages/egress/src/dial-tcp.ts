/**
 * Connects by TCP to addresses that were checked, directly or through an HTTP
 * proxy of the operator. Performs no lookup: Node gets the addresses instead.
 */

import { connect, type Socket } from "node:net";
import { isSameAddress } from "./address/address-rules.ts";
import type { DialPlan } from "./address/host-resolver.ts";
import { EgressError } from "./egress-error.ts";

/**
 * Connects to the addresses of `plan`.
 *
 * @param host for messages
 * @throws {EgressError} `EGRESS_UNREACHABLE`; the reason of `signal`.
 */
export function dialTcp(host: string, { addresses, port }: DialPlan, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({
    host,
    port,
    lookup: (_, __, callback) => callback(null, [...addresses]),
    autoSelectFamily: true,
    // A side that has nothing more to send can still receive.
    allowHalfOpen: true,
  });
  const fail = (error: unknown): void => {
    socket.destroy();
    reject(error);
  };
  const abort = (): void => fail(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  socket.setNoDelay(true);
  // This listener stays for the life of the socket: a later error must not be uncaught.
  socket.on("error", (cause) => fail(unreachable(host, cause)));
  socket.once("close", () => reject(unreachable(host)));
  socket.once("connect", () => {
    const { remoteAddress = "" } = socket;
    if (addresses.some(({ address }) => isSameAddress(address, remoteAddress))) resolve(socket);
    else fail(unreachable(host));
  });
  return promise.finally(() => signal.removeEventListener("abort", abort));
}

/** Bytes of the answer of a proxy to CONNECT. */
const answerMaxBytes = 16_384;

/**
 * Opens a tunnel to `authority` through a connection to an HTTP proxy.
 *
 * @param authorization the value of `Proxy-Authorization`
 * @throws {EgressError} `EGRESS_UNREACHABLE`; the reason of `signal`.
 */
export async function openTunnel(
  socket: Socket,
  { authority, authorization }: { readonly authority: string; readonly authorization: string | undefined },
  signal: AbortSignal,
): Promise<Socket> {
  const head = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (authorization !== undefined) head.push(`Proxy-Authorization: ${authorization}`);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  let answer = Buffer.alloc(0);
  const refuse = (state: string): void => reject(proxyRefused(authority, state));
  const onData = (piece: Buffer): void => {
    answer = Buffer.concat([answer, piece]);
    const end = answer.indexOf("\r\n\r\n");
    if (end === -1) {
      if (answer.length > answerMaxBytes) refuse("its answer is too large");
      return;
    }
    socket.pause();
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer.toString("latin1", 0, 20))?.[1];
    if (status !== "200") {
      refuse(status === undefined ? "it does not speak HTTP" : `it answers ${status}`);
      return;
    }
    if (answer.length > end + 4) socket.unshift(answer.subarray(end + 4));
    resolve(socket);
  };
  const onEnd = (): void => refuse("it closed the connection");
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  socket.on("data", onData).once("end", onEnd).once("close", onEnd);
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  try {
    return await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
    socket.off("data", onData).off("end", onEnd).off("close", onEnd);
  }
}

function proxyRefused(authority: string, state: string): EgressError {
  return new EgressError(
    "EGRESS_UNREACHABLE",
    `Cannot reach "${authority}" through the configured proxy: ${state}`,
    {
      hint: "check the variables https_proxy and no_proxy",
    },
  );
}

function unreachable(host: string, cause?: unknown): EgressError {
  return new EgressError(
    "EGRESS_UNREACHABLE",
    `Cannot connect to "${host}": no address accepts a connection`,
    {
      cause,
    },
  );
}
