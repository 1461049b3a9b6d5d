/** Sample implementations of the interfaces of this package. An incompatible change does not compile. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CallContext,
  type Health,
  localIdentity,
  type SourceChange,
  type Tool,
  type ToolSource,
  textResult,
  toToolId,
} from "@toolcrib/tool";

const clock: Tool = {
  id: toToolId("demo", "clock"),
  namespace: "demo",
  tags: [],
  origin: "local",
  sourceId: "demo",
  definition: {
    name: "clock",
    description: "Tell the time",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    // Fields of later revisions are kept.
    execution: { taskSupport: "optional" },
  },
};

function createClockSource(now: () => number): ToolSource & { rename(title: string): void } {
  const listeners = new Set<(change: SourceChange) => void>();
  let tools: readonly Tool[] = [clock];
  let health: Health = { state: "starting", since: 0 };
  return {
    id: "demo",
    origin: "local",
    async start(signal) {
      signal.throwIfAborted();
      health = { state: "ready", since: now() };
      for (const listener of listeners) listener({ kind: "health" });
    },
    tools: () => tools,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async call(tool, _args, context) {
      context.signal.throwIfAborted();
      context.progress({ progress: 1, total: 1 });
      return textResult(`${tool.definition.name} ${now()} for ${context.identity.name}`);
    },
    health: () => health,
    rename(title) {
      tools = [{ ...clock, definition: { ...clock.definition, title } }];
      for (const listener of listeners) listener({ kind: "tools" });
    },
    async [Symbol.asyncDispose]() {
      listeners.clear();
      health = { state: "stopped", since: now() };
    },
  };
}

function contextFor(signal: AbortSignal, progress: CallContext["progress"]): CallContext {
  return {
    callId: "1",
    depth: 0,
    identity: localIdentity("library", "tests"),
    era: "modern",
    signal,
    deadline: 1000,
    wantsProgress: true,
    progress,
    notify: () => assert.fail("unexpected notification"),
    ask: () => Promise.reject(new Error("nobody can be asked")),
  };
}

test("A tool source lists, calls, reports changes and is disposed of", async () => {
  const seen: string[] = [];
  const source = createClockSource(() => 42);
  {
    await using owned = source;
    const stop = owned.onChange(({ kind }) => seen.push(kind));
    assert.equal(owned.health().state, "starting");
    await owned.start(new AbortController().signal);
    assert.deepEqual(owned.health(), { state: "ready", since: 42 });

    const progress: unknown[] = [];
    const context = contextFor(new AbortController().signal, (params) => progress.push(params));
    const [tool] = owned.tools();
    assert.ok(tool !== undefined);
    assert.deepEqual(await owned.call(tool, {}, context), textResult("clock 42 for tests"));
    assert.deepEqual(progress, [{ progress: 1, total: 1 }]);

    assert.equal(owned.tools(), owned.tools());
    source.rename("Clock");
    assert.equal(owned.tools()[0]?.definition.title, "Clock");
    stop();
    stop();
    source.rename("Watch");
    assert.deepEqual(seen, ["health", "tools"]);
  }
  assert.equal(source.health().state, "stopped");
});

test("A call whose signal is aborted rejects with the signal's reason", async () => {
  await using source = createClockSource(() => 42);
  const reason = new Error("the client is gone");
  const context = contextFor(AbortSignal.abort(reason), () => assert.fail("there is no call in flight"));
  await assert.rejects(source.call(clock, {}, context), reason);
});
