/** A gateway in this process that the commands of a test find, and that reads its files only when `toolcrib reload` asks. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { loadConfig } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { type Gateway, startGateway } from "@toolcrib/gateway";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Starts a gateway, and writes its run file. Its configuration has `auth: none`.
 *
 * @param path the configuration file
 * @param home the home, which the commands need, too
 */
export async function startUnwatchedGateway(path: string, home: string): Promise<Gateway> {
  const load = async () => {
    const { value } = await loadConfig([path], { readFile: readRegularFile });
    return value ?? assert.fail("an invalid configuration");
  };
  const gateway = await startGateway(await load(), {
    home,
    env: { PATH: process.env["PATH"] },
    directory: dirname(path),
    logger: silent,
    version: "0.0.1",
    configFiles: [path],
    reload: async () => gateway.applyConfig(await load(), [path]),
  });
  const { url } = await gateway.listen();
  const { path: controlPath } = await gateway.listenControl();
  mkdirSync(`${home}/run`, { recursive: true, mode: 0o700 });
  const entry = { pid: process.pid, url, controlPath, version: "0.0.1", auth: "none", configFiles: [path] };
  const text = JSON.stringify({ ...entry, startedAt: new Date().toISOString() });
  writeFileSync(`${home}/run/gateway-${process.pid}.json`, text, { mode: 0o600 });
  return gateway;
}
