/** Takes over the listeners that a child sends over its IPC channel before its program begins. */

import type { ChildProcess } from "node:child_process";
import { Socket as DatagramSocket } from "node:dgram";
import { Server } from "node:net";

/** A place at which a child listens, in its own network. */
export interface ListenPlace {
  readonly protocol: "tcp" | "udp";
  readonly address: string;
  readonly port: number;
}

/** Receives a listener: a server for TCP, a bound socket for UDP. */
export type TakeListener = (listener: Server | DatagramSocket, place: ListenPlace) => void;

/** Places that one child may hand over. */
const placesMaxCount = 32;

/**
 * Takes the listeners of `child`: a message with the place for each, and one without a listener at the end. Then it
 * closes the channel: the program after it has none.
 */
export function takeListenerOf(child: ChildProcess, takeListener: TakeListener): void {
  let count = 0;
  child.on("message", (message: unknown, handle: unknown) => {
    const place = toPlace(message);
    const isListener = handle instanceof Server || handle instanceof DatagramSocket;
    if (place !== undefined && isListener) takeListener(handle, place);
    else if (isListener) handle.close();
    if ((!isListener || ++count > placesMaxCount) && child.connected) child.disconnect();
  });
}

function toPlace(message: unknown): ListenPlace | undefined {
  const [, protocol, address, port] = /^(tcp|udp) ([0-9.]+) ([0-9]+)$/.exec(String(message)) ?? [];
  if ((protocol !== "tcp" && protocol !== "udp") || address === undefined) return undefined;
  return { protocol, address, port: Number(port) };
}
