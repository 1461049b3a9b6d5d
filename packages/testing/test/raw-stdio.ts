/** A client without manners for tests: writes lines to a server's stdin, reads lines from its stdout. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fixtureCommand, waitUntil } from "@toolcrib/testing";

export interface RawServer extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Every line of stdout so far. */
  readonly lines: readonly string[];
  stderr(): string;
  send(message: object): void;
  /** Send a call of `name` and return the lines that came since, once one answers it. */
  call(name: string, given?: object): Promise<string[]>;
}

export function startRaw(path: string, ...flags: readonly string[]): RawServer {
  const { command, args } = fixtureCommand(path, ...flags);
  const child = spawn(command, args, { stdio: "pipe" });
  const lines: string[] = [];
  let rest = "";
  let stderr = "";
  let callCount = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    child,
    lines,
    stderr: () => stderr,
    send,
    async call(name, given = {}) {
      callCount += 1;
      const id = `call-${callCount}`;
      const start = lines.length;
      send({ id, method: "tools/call", params: { name, arguments: given, _meta: { progressToken: id } } });
      await waitUntil(() => lines.slice(start).some((line) => line.includes(`"id":"${id}"`)));
      return lines.slice(start);
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
