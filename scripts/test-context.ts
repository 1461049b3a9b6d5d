/**
 * Loaded into every test file by `npm test`, before `node:test`. It replaces how `node:test` finds the test that code
 * belongs to: with `AsyncLocalStorage` instead of async hooks, which run code at each promise and make the
 * garbage collector track it: eight percent of the CPU time of tests of the gateway, the store, `mcp` and the egress. Tests nest as before, and an error that is thrown later still fails its test.
 *
 * `node:test` takes three names of `node:async_hooks` when it is loaded. It gets ours, and all other code gets
 * Node's. Where a version of Node takes others, the tests of `npm test` itself fail.
 */

import asyncHooks from "node:async_hooks";
import { isMainThread } from "node:worker_threads";

/** The hook that `node:test` passes to `createHook`. */
interface TestHook {
  init(asyncId: number, type: string, triggerAsyncId: number, resource: object): void;
}

// The process that runs the files loads this file too.
if (isMainThread && process.env["NODE_TEST_CONTEXT"]?.startsWith("child")) {
  const replaced: { -readonly [name in keyof typeof asyncHooks]?: unknown } = asyncHooks;
  const { AsyncResource, createHook, executionAsyncId } = asyncHooks;
  const currentId = new asyncHooks.AsyncLocalStorage<number>();
  let testHook: TestHook | undefined;

  /** The base class of tests and suites. Functions that run in it, and what they start, have its id. */
  replaced.AsyncResource = class extends AsyncResource {
    constructor(type: string) {
      super(type);
      testHook?.init(this.asyncId(), type, 0, this);
    }
    override runInAsyncScope<This, Result>(
      run: (this: This, ...values: unknown[]) => Result,
      self?: This,
      ...values: unknown[]
    ): Result {
      const id = this.asyncId();
      return super.runInAsyncScope(() => currentId.run(id, () => run.apply(self as This, values)));
    }
  };
  replaced.executionAsyncId = () => currentId.getStore() ?? 0;
  replaced.createHook = (hook: TestHook) => {
    testHook = hook;
    return { enable() {}, disable() {} };
  };
  // `node:test` loads the harness with its module.
  await import("node:test");
  Object.assign(replaced, { AsyncResource, createHook, executionAsyncId });
}
