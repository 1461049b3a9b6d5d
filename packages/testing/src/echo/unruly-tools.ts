/**
 * Tools of the echo server that misbehave: they crash, hang, write invalid
 * messages, respond twice or to unknown requests, leave processes behind, or break
 * the connection.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { count, defineTool, type EchoTool, flag, numberOf, stringOf, text, textResult } from "./echo-tool.ts";

/** Milliseconds after which a grandchild exits by itself, in case a test does not end it. */
const grandchildLifetimeMs = 600_000;

export const unrulyTools: readonly EchoTool[] = [
  defineTool("crash", "Ends the process without an answer", { code: count }, [], (given, call) => {
    call.server.host.crash(numberOf(given, "code", 1));
    return untilCancelled(call.signal);
  }),
  defineTool("hang", "Never answers", {}, [], (_given, { signal }) => untilCancelled(signal)),
  defineTool("break_off", "Breaks the connection instead of answering", {}, [], (_given, call) => {
    call.breakOff();
    return untilCancelled(call.signal);
  }),
  defineTool(
    "break_stream",
    "Closes its response stream, and answers on the stream that resumes it",
    { ms: count },
    [],
    async (given, call) => {
      call.breakOff();
      await delay(numberOf(given, "ms", 50), undefined, { signal: call.signal });
      return textResult("answered after the stream broke");
    },
  ),
  defineTool("expire_session", "Forgets the session of the call", {}, [], (_given, call) => {
    call.expireSession();
    return textResult("forgotten");
  }),

  defineTool("stderr_noise", "Writes lines to stderr", { lines: count, line: text }, [], (given) => {
    const lines = numberOf(given, "lines", 1);
    const line = stringOf(given, "line", "noise");
    process.stderr.write(`${line}\n`.repeat(lines));
    return textResult(`${lines} lines`);
  }),
  defineTool(
    "invalid_message",
    "Writes text that is not JSON, then responds",
    { text },
    [],
    (given, call) => {
      call.writeText(stringOf(given, "text", "this is {not JSON"));
      return textResult("after an invalid message");
    },
  ),
  defineTool("twice", "Answers twice", {}, [], (_given, call) => {
    call.respond(call.id, textResult("first"));
    return textResult("second");
  }),
  defineTool(
    "unknown_answer",
    "Answers a request nobody made, then its own",
    { id: text },
    [],
    (given, call) => {
      call.respond(stringOf(given, "id", "nobody-asked-this"), textResult("for nobody"));
      return textResult("for the caller");
    },
  ),

  defineTool(
    "spawn_child",
    "Starts a process that ignores SIGTERM and returns its pid",
    {
      holdPipes: { ...flag, description: "Let it inherit stdout and stderr, so that they stay open" },
      detached: { ...flag, description: "Put it into a process group of its own" },
    },
    [],
    (given, { server }) =>
      spawnGrandchild(server.host.children, given["holdPipes"] === true, given["detached"] === true),
  ),
];

/** Never resolves. Rejects when the call is cancelled; a cancelled call gets no response. */
function untilCancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function spawnGrandchild(pids: Set<number>, holdPipes: boolean, detached: boolean) {
  // It prints a line when its signal handler is installed: before that, SIGTERM would end it.
  const program = `process.on("SIGTERM", () => {}); process.send("ready"); setTimeout(() => {}, ${grandchildLifetimeMs});`;
  const output = holdPipes ? "inherit" : "ignore";
  const child = spawn(process.execPath, ["-e", program], {
    detached,
    stdio: ["ignore", output, output, "ipc"],
  });
  await once(child, "message");
  child.disconnect();
  child.unref();
  const pid = child.pid ?? 0;
  pids.add(pid);
  child.on("exit", () => pids.delete(pid));
  return textResult(String(pid));
}
