/**
 * The load client on stdio: for the contender "direct", a server without any
 * gateway. It never starts or ends the process; it only speaks with it.
 */

import type { ChildProcess } from "node:child_process";
import { initialize, type McpClient, type Result, Waiting } from "./mcp-client.ts";

/** Uses MCP with a child over its stdin and stdout. */
export async function connectStdio(child: ChildProcess): Promise<McpClient> {
  const waiting = new Waiting();
  let lastId = 0;
  let rest = "";
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) waiting.settle(line);
  });
  child.on("exit", () => waiting.failAll(new Error("the server ended")));
  child.stdin!.on("error", (error) => waiting.failAll(error));
  const write = (message: object): void => {
    child.stdin!.write(`${JSON.stringify(message)}\n`);
  };
  const request = (method: string, params: object): Promise<Result> => {
    lastId += 1;
    const answer = waiting.add(lastId, method);
    write({ jsonrpc: "2.0", id: lastId, method, params });
    return answer;
  };
  await initialize(request, async (method) => write({ jsonrpc: "2.0", method }));
  return {
    request,
    rest: () => {},
    close: (reason = "the load client closed") => waiting.failAll(new Error(reason)),
  };
}
