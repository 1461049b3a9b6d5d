/**
 * Ends a process whose main thread does not react, such as one with a test in an
 * endless loop: no timer of the main thread can end it. A worker thread waits for
 * beats of the main thread in shared memory. The report names the file that ran.
 */

import { writeSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";

/** Time in milliseconds without a beat after which the process ends. Tests of the watchdog shorten it. */
const silenceMs = Number(process.env["TOOLCRIB_TEST_SILENCE_MS"] ?? 120_000);

if (!isMainThread) watch(workerData as Int32Array);

/** Starts the worker thread, and the timer of the main thread. Neither keeps the process alive. */
export function startWatchdog(): void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const beat = (): void => {
    Atomics.add(beats, 0, 1);
    Atomics.notify(beats, 0);
  };
  setInterval(beat, silenceMs / 10).unref();
  // Without the arguments of this process: a worker needs neither the guard nor the conditions of imports.
  new Worker(new URL(import.meta.url), { workerData: beats, execArgv: [] }).unref();
}

function watch(beats: Int32Array): void {
  for (;;) {
    const last = Atomics.load(beats, 0);
    if (Atomics.wait(beats, 0, last, silenceMs) !== "timed-out") continue;
    writeSync(2, `The main thread has not reacted for ${silenceMs / 1000} s\n`);
    // A worker cannot end its process in another way.
    process.kill(process.pid, "SIGKILL");
  }
}
