/**
 * Decides when V8 may optimize the code of a gateway. Its start runs once, and a gateway can then wait for hours, so the launcher
 * turns both optimizing compilers off (`bin/toolcrib.js`): their code and what they keep are 9 MB of an idle gateway. With
 * the first call, the gateway turns one on again. The other one, Maglev, makes the first ten thousand calls cheaper and none
 * after them, and its graphs leave 11 MB behind.
 *
 * Node advises against flags that change while it runs; V8 reads these whenever it asks whether a function has
 * become hot.
 */

import { setFlagsFromString } from "node:v8";
import type { Gateway } from "@toolcrib/gateway";

/** Interval at which the CPU time of this process is read, in milliseconds. */
const intervalMs = 5000;
/** CPU time of one interval from which a gateway without calls is busy, in milliseconds; a start takes less than half. */
const busyMs = 1500;

/**
 * Number of calls of a function after which V8 optimizes it. V8's own 3000 leaves the first functions to Maglev, which is off
 * here: the 40,000 calls of tools after the start would take half as much CPU time again.
 */
const callsBeforeOptimization = 1000;

/** Name of the member that the launcher sets on the global object where it turned the compilers off. */
const mark = Symbol.for("toolcrib.compilersAreOff");

/** Turns both compilers on again, where the launcher turned them off. */
export function optimize(): void {
  if (!areOff()) return;
  setFlagsFromString("--opt");
  setFlagsFromString("--maglev");
}

/**
 * Lets V8 optimize functions while hundreds of toolspecs are linted, where the launcher turned that off: with the quicker of
 * the two compilers, this takes half the CPU time. Its graphs for these few functions leave less than 4 MB behind.
 *
 * @returns turns it off again
 */
export function optimizeMeanwhile(): Disposable {
  if (!areOff()) return { [Symbol.dispose]() {} };
  setFlagsFromString("--maglev");
  return { [Symbol.dispose]: () => setFlagsFromString("--no-maglev") };
}

/**
 * Lets V8 optimize functions from the first call of a tool on, or once the gateway is busy with something else, such as a long
 * start or many lists; where the launcher turned that off.
 *
 * @returns stops waiting for either
 */
export function optimizeWhenBusy(gateway: Gateway): Disposable {
  if (!areOff()) return { [Symbol.dispose]() {} };
  let before = cpuMs();
  const timer = setInterval(() => {
    const now = cpuMs();
    if (now - before >= busyMs) start();
    before = now;
  }, intervalMs).unref();
  const start = () => {
    clearInterval(timer);
    setFlagsFromString(`--invocation-count-for-turbofan=${callsBeforeOptimization}`);
    setFlagsFromString("--opt");
  };
  void gateway.nextCall().then(start);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function areOff(): boolean {
  return Reflect.get(globalThis, mark) === true;
}

/** Returns the CPU time that this process has used, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
