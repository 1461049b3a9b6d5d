/**
 * The only exit of a scoped network: a listener on 127.0.0.1 of the sandbox. A
 * short-lived Node opens it inside, sends it to the gateway over its IPC channel,
 * and becomes the program. The program gets neither the channel nor a process that
 * forwards: the gateway accepts the connections itself, and knows by the listener
 * which program they come from.
 */

/** Port on 127.0.0.1 at which a program with a scoped network reaches the server of its caller. */
export const exitPort = 3128;

/**
 * Arguments: the port; the number of variables of the program that must not reach this Node; these variables; the
 * program with its arguments.
 */
const script = `
const [port, count, ...rest] = process.argv.slice(1);
const held = rest.splice(0, Number(count)).map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]);
const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...env } = process.env;
const server = require("node:net").createServer();
server.listen(Number(port), "127.0.0.1", () => {
  process.send("listening", server, () => process.execve(rest[0], rest, { ...env, ...Object.fromEntries(held) }));
});`;

/** The program that opens the exit; every sandbox with a scoped network contains it. */
export const exitProgram = process.execPath;

/** Returns the words before the program that open the exit. @param held `NAME=value` of variables for the program only */
export function exitWords(held: readonly string[]): readonly string[] {
  return [exitProgram, "--no-warnings", "-e", script, String(exitPort), String(held.length), ...held];
}
