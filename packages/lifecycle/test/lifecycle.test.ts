import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { abortable, disposeOnce, InFlight, ListenerSet, whenAborted } from "@toolcrib/lifecycle";

const reason = new Error("No longer needed");

/** Checks that no abort listener is left on `signal`. */
function checkNoListeners(signal: AbortSignal): void {
  assert.equal(getEventListeners(signal, "abort").length, 0);
}

describe("abortable()", () => {
  test("returns the result of the work and removes its listener", async () => {
    const { signal } = new AbortController();
    assert.equal(await abortable(Promise.resolve(5), signal), 5);
    checkNoListeners(signal);
  });

  test("rejects with the error of the work", async () => {
    const { signal } = new AbortController();
    await assert.rejects(abortable(Promise.reject(reason), signal), reason);
    checkNoListeners(signal);
  });

  test("rejects with the reason when the signal aborts first", async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => {}), controller.signal);
    controller.abort(reason);
    await assert.rejects(waiting, reason);
    checkNoListeners(controller.signal);
  });

  test("rejects when the signal has aborted before, also when the work is done or fails later", async () => {
    await assert.rejects(abortable(Promise.resolve(5), AbortSignal.abort(reason)), reason);
    const { promise, reject } = Promise.withResolvers<void>();
    await assert.rejects(abortable(promise, AbortSignal.abort(reason)), reason);
    // An unhandled rejection would fail this test file.
    reject(new Error("Too late"));
  });
});

describe("whenAborted()", () => {
  test("resolves at once when the signal has aborted", () => whenAborted(AbortSignal.abort()));

  test("resolves when the signal aborts", async () => {
    const controller = new AbortController();
    const waiting = whenAborted(controller.signal);
    controller.abort();
    await waiting;
  });

  test("rejects with the reason of the other signal when that aborts first, and leaves no listener", async () => {
    const { signal: awaited } = new AbortController();
    const controller = new AbortController();
    const waiting = whenAborted(awaited, controller.signal);
    controller.abort(reason);
    await assert.rejects(waiting, reason);
    checkNoListeners(awaited);
    checkNoListeners(controller.signal);
  });
});

describe("disposeOnce()", () => {
  test("disposes once and makes every caller wait for the end", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    const dispose = disposeOnce(() => {
      calls += 1;
      return promise;
    });
    const [first, second] = [dispose(), dispose()];
    assert.equal(first, second);
    resolve();
    await second;
    await dispose();
    assert.equal(calls, 1);
  });

  test("rejects for every caller when disposal fails, also when it throws", async () => {
    const dispose = disposeOnce(() => {
      throw reason;
    });
    await assert.rejects(dispose(), reason);
    await assert.rejects(dispose(), reason);
  });
});

describe("InFlight", () => {
  test("counts, and is idle when everything has ended", async () => {
    const calls = new InFlight();
    await calls.idle();
    calls.enter(3);
    let isIdle = false;
    const idle = calls.idle().then(() => {
      isIdle = true;
    });
    calls.leave(2);
    assert.equal(calls.count, 1);
    await Promise.resolve();
    assert.equal(isIdle, false);
    calls.leave();
    await idle;
    assert.equal(calls.count, 0);
  });

  test("waits for operations that start while it waits", async () => {
    const calls = new InFlight();
    calls.enter();
    let isIdle = false;
    const idle = calls.idle().then(() => {
      isIdle = true;
    });
    calls.leave();
    calls.enter();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isIdle, false);
    calls.leave();
    await idle;
  });
});

describe("ListenerSet", () => {
  test("calls listeners in order until they are removed", () => {
    const seen: string[] = [];
    const listeners = new ListenerSet<[value: number]>();
    const remove = listeners.add((value) => seen.push(`a${value}`));
    listeners.add((value) => seen.push(`b${value}`));
    listeners.emit(1);
    remove();
    remove();
    listeners.emit(2);
    assert.deepEqual(seen, ["a1", "b1", "b2"]);
    assert.equal(listeners.size, 1);
    listeners.clear();
    assert.equal(listeners.size, 0);
  });

  test("keeps a function that is added twice until both are removed", () => {
    let calls = 0;
    const listeners = new ListenerSet();
    const count = () => {
      calls += 1;
    };
    const remove = listeners.add(count);
    listeners.add(count);
    listeners.emit();
    remove();
    listeners.emit();
    assert.equal(calls, 3);
  });

  test("skips a listener that an earlier one removes, and one that is added meanwhile", () => {
    const seen: string[] = [];
    const listeners = new ListenerSet();
    listeners.add(() => {
      seen.push("first");
      removeSecond();
      listeners.add(() => seen.push("late"));
    });
    const removeSecond = listeners.add(() => seen.push("second"));
    listeners.emit();
    assert.deepEqual(seen, ["first"]);
  });

  test("calls the other listeners when one throws, and throws its error then", () => {
    let calls = 0;
    const listeners = new ListenerSet();
    listeners.add(() => {
      throw reason;
    });
    listeners.add(() => {
      calls += 1;
    });
    assert.throws(() => listeners.emit(), reason);
    assert.equal(calls, 1);
  });
});
