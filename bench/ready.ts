/**
 * Waits for a started contender until its `tools/list` contains the echo tool of
 * every upstream that responds. It never waits longer than its limit, and never
 * stops the contender; its owner does.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Child } from "./children.ts";
import type { Launched } from "./contenders.ts";
import type { McpClient, Result } from "./mcp-client.ts";

/** A contender that responded to `tools/list`. */
export interface Ready {
  readonly child: Child;
  readonly client: McpClient;
  /** The name under which the contender offers `echo`. */
  readonly toolName: string;
}

/**
 * Retries until a started contender lists `echo` of `count` upstreams.
 *
 * @throws when the process ends, or after `limitMs` or at `signal`: with the last error.
 */
export async function untilReady(
  launched: Launched,
  options: { readonly count: number; readonly limitMs: number; readonly signal: AbortSignal },
): Promise<Ready> {
  const deadline = performance.now() + options.limitMs;
  let client: McpClient | undefined;
  let why = "has not answered";
  try {
    while (performance.now() < deadline) {
      options.signal.throwIfAborted();
      const ended = launched.child.ended();
      if (ended !== undefined) throw new Error(`${ended}${lastWords(launched.child)}`);
      try {
        const left = Math.max(1, deadline - performance.now());
        client ??= await within(left, options.signal, launched.connect());
        const names = echoNames(await within(left, options.signal, client.request("tools/list", {})));
        if (names.length >= options.count) {
          return { child: launched.child, client, toolName: names[0]! };
        }
        why = `lists ${names.length} of ${options.count} echo tools`;
      } catch (error) {
        options.signal.throwIfAborted();
        why = (error as Error).message;
        client?.close();
        client = undefined;
      }
      await sleep(5);
    }
    throw new Error(`not ready within ${options.limitMs} ms: ${why}`);
  } catch (error) {
    client?.close();
    throw error;
  }
}

function echoNames(result: Result): readonly string[] {
  const tools = Array.isArray(result["tools"]) ? (result["tools"] as { name?: unknown }[]) : [];
  return tools.map((tool) => String(tool.name)).filter((name) => /(^|__)echo$/.test(name));
}

function lastWords(child: Child): string {
  const lines = child.output().trim().split("\n").slice(-3).join(" / ");
  return lines === "" ? "" : `; it said: ${lines.slice(-400)}`;
}

/** `promise`, or a rejection after `ms` or at `signal`. */
export async function within<T>(ms: number, signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const stop = Promise.withResolvers<never>();
  const onAbort = (): void => stop.reject(signal.reason);
  const timer = setTimeout(() => stop.reject(new Error(`no answer within ${Math.round(ms)} ms`)), ms);
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, stop.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
