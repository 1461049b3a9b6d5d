/**
 * The only exits of a scoped network: listeners inside of it. A short-lived Node
 * opens them, sends them to the gateway over its IPC channel, and becomes the
 * program. The program gets neither the channel nor a process that forwards: the
 * gateway accepts the connections itself, and knows by the listener which program
 * they come from.
 */

import type { ContainedRequest } from "@toolcrib/process";

/** A place at which a scoped network has a listener. */
export type ListenPlace = Parameters<NonNullable<ContainedRequest["takeListener"]>>[1];

/** Port of 127.0.0.1 at which a program with a scoped network finds what its caller serves. */
export const exitPort = 3128;

/** The exit that every scoped network has. */
const exitPlace: ListenPlace = { protocol: "tcp", address: "127.0.0.1", port: exitPort };

/**
 * Addresses that a scoped network delivers to its own listeners: those for benchmarks (RFC 2544), which no public host
 * has. A caller that answers names can give each a different one.
 */
export const ownAddresses = { first: "198.18.0.0", bits: 15 } as const;

/**
 * Arguments: the number of variables of the program that must not reach this Node; these variables; the places as
 * JSON; the program with its arguments. A place that cannot be listened at, such as a low port where the kernel
 * reserves it, is left out.
 */
const script = `
const [count, ...rest] = process.argv.slice(1);
const held = rest.splice(0, Number(count)).map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]);
const [places, ...words] = rest;
const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...env } = process.env;
const start = () => process.send("done", () => process.execve(words[0], words, { ...env, ...Object.fromEntries(held) }));
const all = JSON.parse(places).map(({ protocol, address, port }) => new Promise((resolve) => {
  const isTcp = protocol === "tcp";
  const listener = isTcp ? require("node:net").createServer() : require("node:dgram").createSocket("udp4");
  const hand = () => process.send([protocol, address, port].join(" "), listener, resolve);
  listener.once("error", resolve);
  if (isTcp) listener.listen(port, address, hand);
  else listener.bind({ port, address, exclusive: true }, hand);
}));
Promise.all(all).then(start);`;

/** The program that opens the exits; every sandbox with a scoped network contains it. */
export const exitProgram = process.execPath;

/**
 * Returns the words before the program that open the exits.
 *
 * @param held `NAME=value` of variables for the program only
 * @param places in addition to the exit that every scoped network has
 */
export function exitWords(held: readonly string[], places: readonly ListenPlace[]): readonly string[] {
  const all = JSON.stringify([exitPlace, ...places]);
  return [exitProgram, "--no-warnings", "-e", script, String(held.length), ...held, all];
}
