/**
 * Finds the gateway of the home, and starts one where none runs: as `toolcrib serve` in a process of its own, which
 * stays when its starter ends. Of several processes that want one at the same time, one starts it; the others wait.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makePrivateDirectory, waitForLock } from "@toolcrib/files";
import { startDetached } from "@toolcrib/process";
import { findProvenGateways, type RunningGateway } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { findConfigFiles } from "../config/find-config-files.ts";
import { launcherPath } from "../launcher-path.ts";
import { safeLine } from "../output/output.ts";

/** Longest wait for a start, in milliseconds. */
const startMaxMs = 60_000;
/** Milliseconds between two polls. */
const pollMs = 50;
/** Most characters of its error output that are kept. */
const outputMaxLength = 64 * 1024;

/** A gateway, and whether this process started it. */
export interface FoundGateway {
  readonly gateway: RunningGateway;
  readonly isStarted: boolean;
}

/**
 * Returns the running gateway of the home, after starting one if none runs.
 *
 * @param findFiles finds the configuration of a gateway that is started
 * @throws {CliError} `CLI_GATEWAY_UNUSABLE` with what the gateway said, `CLI_CONFIG_NOT_FOUND`; the signal's reason
 */
export async function ensureGateway(
  context: CliContext,
  findFiles: (context: CliContext) => readonly string[] = findConfigFiles,
): Promise<FoundGateway> {
  const { home } = context.options;
  const [running] = await findProvenGateways(home);
  if (running !== undefined) return { gateway: running, isStarted: false };
  const folder = join(home, "locks");
  await makePrivateDirectory(folder);
  using lock = await waitForLock(folder, "start", startMaxMs);
  if (lock === undefined) throw unusable("another process is starting it for a long time");
  context.signal.throwIfAborted();
  const [meanwhile] = await findProvenGateways(home);
  if (meanwhile !== undefined) return { gateway: meanwhile, isStarted: false };
  return { gateway: await start(context, findFiles(context)), isStarted: true };
}

async function start(context: CliContext, files: readonly string[]): Promise<RunningGateway> {
  const { options, directory, env, signal } = context;
  if (!existsSync(launcherPath)) {
    const reason = `${safeLine(launcherPath)} does not exist: Toolcrib was removed, or is being updated`;
    throw unusable(reason, "install it again, or try again when the update has ended");
  }
  const configs = files.flatMap((file) => ["--config", resolve(directory, file)]);
  const child = startDetached({
    program: process.execPath,
    args: [launcherPath, ...configs, "--home", options.home, "serve", "--quiet"],
    env,
    directory,
  });
  let output = "";
  let end: string | undefined;
  child.once("error", (error) => (end = error.message));
  child.once("exit", (code, by) => (end = `it ended with ${by ?? `code ${code}`}`));
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (output = (output + text).slice(-outputMaxLength)));
  // The pipe breaks when this process lets go of it.
  child.stderr?.on("error", () => {});
  try {
    for (let waitedMs = 0; waitedMs < startMaxMs; waitedMs += pollMs) {
      const [running] = await findProvenGateways(options.home);
      if (running !== undefined) return running;
      if (end !== undefined) {
        // What it wrote last is still on its way.
        await delay(pollMs);
        throw unusable(reasonOf(output) ?? end);
      }
      await delay(pollMs, undefined, { signal });
    }
    child.kill();
    throw unusable(`it did not listen within ${startMaxMs / 1000} s`);
  } finally {
    child.removeAllListeners();
    child.stderr?.destroy();
  }
}

/** The error in the output of a command: its message follows a code. */
function reasonOf(output: string): string | undefined {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const at = lines.findIndex((line) => /^error\b/i.test(line));
  const said = at === -1 ? lines.slice(-3) : lines.slice(at, at + 3);
  return said.length === 0 ? undefined : safeLine(said.join("; "));
}

function unusable(reason: string, hint = "start it by hand to see more: toolcrib serve"): CliError {
  return new CliError("CLI_GATEWAY_UNUSABLE", `No gateway could be started: ${reason}`, { hint });
}
