/**
 * The lock by which gateways share a home or exclude each other. The system
 * releases it when the process ends, however it ends.
 */

import { join } from "node:path";
import { makePrivateDirectory, tryLock } from "@toolcrib/files";
import { findRunningGateways } from "../access/run-file.ts";
import { CliError } from "../cli-error.ts";

/**
 * Takes the home for a gateway, until disposed.
 *
 * @param isShared whether other gateways may use it at the same time.
 * @throws {CliError} `CLI_HOME_IN_USE` when this gateway or another one wants it alone.
 */
export async function takeHome(home: string, isShared: boolean): Promise<Disposable> {
  const lock = await lockOf(home, isShared);
  if (lock !== undefined) return lock;
  const others = findRunningGateways(home).map(({ url, pid }) => `${url} (process ${pid})`);
  const who = others.length === 0 ? "a gateway on standard streams" : others.join(", ");
  const why = isShared ? "it is configured with serve.shared_home: false" : "serve.shared_home is false";
  throw new CliError("CLI_HOME_IN_USE", `Another gateway uses the home "${home}", and ${why}: ${who}`, {
    hint: "use that gateway, stop it, or use another home with --home",
  });
}

async function lockOf(home: string, isShared: boolean): Promise<Disposable | undefined> {
  try {
    const directory = join(home, "locks");
    await makePrivateDirectory(directory);
    return tryLock(directory, "gateway", isShared ? "shared" : "exclusive");
  } catch (error) {
    // The store explains why the home cannot be used, and how to change that.
    if (isShared) return { [Symbol.dispose]() {} };
    throw error;
  }
}
