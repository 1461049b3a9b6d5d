/**
 * A module that a gateway loads first: the process of its first trial of a scoped network is killed before it does
 * anything, as on a machine without memory, and the pause after it ends with SIGUSR2.
 */

import { subscribe } from "node:diagnostics_channel";

let isKilled = false;
// A process is published before it is started.
subscribe("child_process", ({ process: child }) => {
  const { spawn } = child;
  child.spawn = (options) => {
    const isTrial = options.args.includes("--map-root-user") && options.args.at(-1) === "true";
    if (!isTrial || isKilled) return spawn.call(child, options);
    isKilled = true;
    return spawn.call(child, { ...options, file: "/bin/sh", args: ["sh", "-c", "kill -KILL $$"] });
  };
});

const { setTimeout } = globalThis;
const pauses = [];
globalThis.setTimeout = (run, ms, ...args) => {
  if (ms !== 30_000) return setTimeout(run, ms, ...args);
  pauses.push(() => run(...args));
  return setTimeout(() => {}, 0);
};
process.on("SIGUSR2", () => {
  for (const end of pauses.splice(0)) end();
});
