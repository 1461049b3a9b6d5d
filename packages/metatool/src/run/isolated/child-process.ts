/**
 * Entry point of a process that executes one composite and then ends. It is started
 * ahead of time, with an empty environment and a bounded heap, and receives its work
 * over IPC. It reads no file once it is loaded, writes none, starts no
 * process; where Node can refuse these to a process, they are refused.
 *
 * When its parent exits, the channel closes and the process ends.
 */

import { setImmediate, setTimeout } from "node:timers";
import type { JsonObject } from "@toolcrib/json";
import { compileProgram, toolDialect } from "@toolcrib/starlark";
import { toSyntaxError } from "../composite-error.ts";
import { executeComposite, type InnerCaller } from "../execute-composite.ts";
import type { InnerReply } from "../inner-reply.ts";
import { type CallableTool, reservedNames, toToolDirectory } from "../tool-directory.ts";
import type { ChildMessage, ExecuteMessage, ReplyMessage } from "./protocol.ts";

const waiting = new Map<number, (reply: InnerReply) => void>();
let callCount = 0;

process.on("message", (message: ExecuteMessage | ReplyMessage) => {
  if (message.kind === "execute") {
    execute(message);
    return;
  }
  waiting.get(message.call)?.(message.reply);
  waiting.delete(message.call);
});
// The parent has exited: no result can be delivered.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

// Newer versions of Node can drop a permission; all modules are loaded now.
const permission = process.permission as { drop?: (scope: string) => void } | undefined;
permission?.drop?.("fs.read");
send({ kind: "ready" });

async function execute({ source, params, tools, options, startedNs }: ExecuteMessage): Promise<void> {
  const directory = toToolDirectory(tools);
  const predeclared = [...reservedNames, ...directory.namespaces.keys()];
  const { program, diagnostics } = compileProgram(source, { dialect: toolDialect, predeclared });
  if (program === undefined) {
    // The parent compiled the same code with the same names before, so only the stack can be too small.
    const error = toSyntaxError(diagnostics, source);
    send({ kind: "outcome", outcome: { kind: "error", error, logs: [], steps: 0 } });
    return;
  }
  const indices = new Map<CallableTool, number>(tools.map((tool, index) => [tool, index]));
  const call: InnerCaller = (tool, given) => callParent(indices.get(tool) as number, given);
  const host = {
    monotonicMs: () => performance.now(),
    nextTurn: () => new Promise<void>((resolve) => setImmediate(resolve)),
    startTimer: (delayMs: number, callback: () => void) => {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
  };
  const execution = { program, directory, params, options, startedNs: BigInt(startedNs), signal: undefined };
  send({ kind: "outcome", outcome: await executeComposite(host, execution, call) });
}

function callParent(tool: number, params: JsonObject): Promise<InnerReply> {
  callCount += 1;
  const call = callCount;
  return new Promise((resolve) => {
    waiting.set(call, resolve);
    send({ kind: "call", call, tool, params });
  });
}

function send(message: ChildMessage): void {
  process.send?.(message);
}
