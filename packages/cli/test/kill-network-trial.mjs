/**
 * A module that a gateway loads first: kills the process of its first trial of a scoped network, as a machine without
 * memory does, and lets the pause after it pass soon.
 */

import { subscribe } from "node:diagnostics_channel";

let isKilled = false;
subscribe("child_process", ({ process: child }) => {
  child.once("spawn", () => {
    const isTrial = child.spawnargs.includes("--map-root-user") && child.spawnargs.at(-1) === "true";
    if (!isTrial || isKilled) return;
    isKilled = true;
    child.kill("SIGKILL");
  });
});

const { setTimeout } = globalThis;
globalThis.setTimeout = (run, ms, ...args) => setTimeout(run, ms === 30_000 ? 100 : ms, ...args);
