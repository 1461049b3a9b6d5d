/**
 * A process that starts a writer, records something and ends, and that is killed at one of its changes of the file system.
 *
 * Arguments: home, number of the change from 0 (-1 for none), `before`, `half` (of a write) or `after`, and what to do:
 * `run`, or `rotate` (small segments and retention). Prints the names of the changes when it is not killed.
 */

import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

const [home = "", stepText = "-1", when = "before", what = "run"] = process.argv.slice(2);
const step = Number(stepText);
const names: string[] = [];

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // SIGKILL takes effect shortly after the call.
  for (;;);
}

/** Counts a change, and kills the process before it. Returns whether it is to be killed after it. */
function enter(name: string, half?: () => void): boolean {
  const isLast = names.push(name) - 1 === step;
  if (isLast && when === "before") die();
  if (isLast && when === "half") {
    half?.();
    die();
  }
  return isLast;
}

type Change = (...args: unknown[]) => unknown;
type Owner = Record<string, Change>;

/** Replaces functions of Node by ones that count: no module of Toolcrib knows of it. */
function countCalls(
  owner: object,
  functions: readonly string[],
  half?: (name: string, args: unknown[]) => void,
): void {
  const table = owner as Owner;
  for (const name of functions) {
    const original = table[name] as Change;
    table[name] = function (this: unknown, ...args: unknown[]) {
      // Opening can create a file. Modules are opened, too.
      if (name.startsWith("open") && !String(args[0]).startsWith(home)) return original.apply(this, args);
      const isLast = enter(name, () => half?.(name, args));
      const result = original.apply(this, args);
      if (!isLast) return result;
      if (result instanceof Promise) return result.finally(die);
      return die();
    };
  }
}

const writeHalf = fs.writeSync;
countCalls(fs, ["writeSync", "mkdirSync", "rmSync", "openSync"], (name, args) => {
  if (name !== "writeSync") return;
  const [descriptor, bytes, offset, length] = args as [number, Buffer, number, number];
  writeHalf(descriptor, bytes, offset, Math.ceil(length / 2), null);
});
countCalls(fs.promises, ["open", "rename", "unlink", "mkdir", "chmod", "copyFile"]);
const handle = await fs.promises.open(process.execPath);
countCalls(Object.getPrototypeOf(handle), ["writeFile", "sync"]);
await handle.close();
const openLater = fs.open as unknown as Change;
(fs as unknown as Owner)["open"] = (...args) => {
  const isLast = enter("open");
  const callback = args.at(-1) as Change;
  return openLater(...args.slice(0, -1), (...results: unknown[]) => (isLast ? die() : callback(...results)));
};
syncBuiltinESMExports();

const { openStore } = await import("@toolcrib/store");
const audit = what === "rotate" ? { segmentMaxBytes: 1500, retainMaxBytes: 4000 } : {};
{
  await using store = await openStore({ home, audit }, { now: Date.now, randomBytes });
  for (let at = 0; at < (what === "rotate" ? 12 : 2); at += 1) {
    store.audit.record("server.stopped", { server: `s${at}`, reason: "stopped" });
    await store.audit.flush();
  }
}
fs.writeSync(1, JSON.stringify(names.length === 0 ? [join(home)] : names));
