/** A raw client for tests: writes lines to the stdin of a server, and reads lines from its stdout. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fixtureCommand, waitUntil } from "@toolcrib/testing";

export interface RawServer extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Every line of stdout so far. */
  readonly lines: readonly string[];
  stderr(): string;
  send(message: object): void;
  /** Calls the tool `name`; returns all lines since the call, after the response has arrived. */
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
