/**
 * The Cedar engine: a WebAssembly module of 4 MB that is loaded only where there are policy files, once for the process.
 *
 * An exception that leaves the engine can damage its memory: one that ran out of stack has less of it for good, and at some
 * point every further use fails. So an engine that threw is not used again; the next use loads a new one, at most
 * `renewalsMax` times within a minute. Until then nothing is decided, which denies everything that policies have to judge.
 */

import { createRequire } from "node:module";
import { messageOf } from "@toolcrib/diagnostics";
import { CedarError } from "./cedar-error.ts";

/** The functions of the engine. */
export type CedarModule = typeof import("@cedar-policy/cedar-wasm/nodejs");

/** Most engines that replace failed ones within `renewalsMs`. @limit operator */
const renewalsMax = 3;
/** Milliseconds after which a replacement counts no longer. */
const renewalsMs = 60_000;

/** The failures of the engine since the process started. */
export interface EngineFailures {
  /** Number of exceptions that replaced an engine. */
  readonly count: number;
  /** The last of them. */
  readonly problem: string;
  /** Whether no engine is used now, because it failed too often within the last minute. */
  readonly isDown: boolean;
}

/** Called without any other work on the stack. It must not throw. */
export interface EngineListener {
  /** The engine failed, and is not used any more. */
  failed(problem: string): void;
  /** Requests that were denied because of a failure can be decided again. */
  usable(): void;
}

let current: CedarModule | undefined;
/** The engine that is deciding. One that still is when the next use begins ended without a report: its stack was at its end. */
let inside: CedarModule | undefined;
let count = 0;
let problem = "";
let renewals = 0;
const listeners = new Set<EngineListener>();

/** Returns the engine. @throws {Error} when it cannot be loaded, {CedarError} `CEDAR_UNAVAILABLE` when it failed too often */
export async function loadCedar(): Promise<CedarModule> {
  return cedarInForce();
}

/** The same at once: decisions do not wait. */
export function cedarInForce(): CedarModule {
  if (inside !== undefined) takeOutOfUse(inside, "its stack ended");
  if (current !== undefined) return current;
  if (count > 0) {
    if (renewals >= renewalsMax) {
      const message = `The policy engine failed ${renewals + 1} times within a minute, and is not loaded again before the minute is over: ${problem}`;
      throw new CedarError("CEDAR_UNAVAILABLE", message, { hint: "toolcrib status shows its state" });
    }
  }
  const loaded = guarded(loadModule(count > 0));
  // One that cannot be loaded has not failed: the next use tries again.
  if (count > 0) {
    renewals += 1;
    setTimeout(endRenewal, renewalsMs).unref();
  }
  current = loaded;
  return current;
}

/** Whether `cedar` is the engine that is used now. */
export function isInForce(cedar: CedarModule): boolean {
  return cedar === current;
}

/** The failures of the engine; undefined where it never failed. */
export function engineFailures(): EngineFailures | undefined {
  if (count === 0) return undefined;
  return { count, problem, isDown: current === undefined && renewals >= renewalsMax };
}

/** Reports failures to `listener` until the result is disposed of. */
export function watchEngine(listener: EngineListener): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => listeners.delete(listener) };
}

function endRenewal(): void {
  const wasDown = current === undefined && renewals >= renewalsMax;
  renewals -= 1;
  if (wasDown) for (const listener of [...listeners]) listener.usable();
}

/** @param isAnew whether an engine that was loaded before is forgotten */
function loadModule(isAnew: boolean): CedarModule {
  // Of its own for each engine: it keeps those that it loaded.
  const require = createRequire(import.meta.url);
  const path = require.resolve("@cedar-policy/cedar-wasm/nodejs");
  if (isAnew) delete require.cache[path];
  return require(path) as CedarModule;
}

/** Returns the engine with functions that take it out of use when they throw. */
function guarded(module: CedarModule): CedarModule {
  const functions = module as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>;
  const guards = Object.keys(functions).map((name) => [
    name,
    (...args: unknown[]) => {
      inside = engine;
      try {
        const result = functions[name]?.(...args);
        inside = undefined;
        return result;
      } catch (error) {
        takeOutOfUse(engine, messageOf(error));
        throw error;
      }
    },
  ]);
  const engine = Object.fromEntries(guards) as unknown as CedarModule;
  return engine;
}

function takeOutOfUse(engine: CedarModule, message: string): void {
  inside = undefined;
  if (engine !== current) return;
  current = undefined;
  count += 1;
  problem = message;
  // The stack can be at its end here.
  queueMicrotask(reportFailure);
}

function reportFailure(): void {
  const isUsable = current !== undefined || renewals < renewalsMax;
  for (const listener of [...listeners]) {
    listener.failed(problem);
    if (isUsable) listener.usable();
  }
}
