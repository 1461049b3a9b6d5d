/** `toolcrib status` of a server that started without names, because the trial of its network had no result. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { echoServer, runFileIn, runToolcrib, startServe } from "./transcript.ts";

const preload = pathToFileURL(join(import.meta.dirname, "kill-network-trial.mjs")).href;
/** Why a scoped network has no names here; undefined where it can have them. */
async function reasonAgainst(): Promise<string | undefined> {
  await using directory = await makeTemporaryDirectory();
  const { stdout } = await runToolcrib(["sandbox", "check"], { directory: directory.path });
  if (!stdout.startsWith("bubblewrap: available")) return "bubblewrap does not work here";
  const words = ["--user", "--map-root-user", "--net", "ip", "link", "set", "lo", "up"];
  return spawnSync("unshare", words).status === 0 ? undefined : "this machine lets nobody prepare a network";
}
const skip = (await reasonAgainst()) ?? false;

test("status says that a server has no names, and how to start it again, until it was", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const containment = { network_egress: "scoped", egress_allow: ["api.example.com"] };
  const servers = [{ ...echoServer("s"), containment }];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: servers }));
  const setting = { directory: directory.path };
  await using _served = await startServe(["--listen", "127.0.0.1:0"], {
    ...setting,
    env: { NODE_OPTIONS: `--import=${preload}` },
  });
  const run = async (...words: readonly string[]) => (await runToolcrib(words, setting)).stdout;
  const read = async () => JSON.parse(await run("status", "--json")).servers[0];
  const isReady = async () => (await read()).health.state === "ready";
  await waitUntil(isReady);
  assert.equal((await read()).containment.lacksNames, true);
  const [, commands = ""] =
    /^no names s: .* cannot look up hosts \(DNS\)\. Start it again: (.*)$/m.exec(await run("status")) ?? [];
  const [disable = "", sleep, enable = ""] = commands.split(" && ");
  assert.equal(sleep, "sleep 2");
  await run(...disable.split(" ").slice(1));
  await waitUntil(async () => (await read()).health.state === "disabled");
  // The pause until the next trial is over.
  process.kill(Number(/gateway-(\d+)\.json$/.exec(runFileIn(directory.path) ?? "")?.[1]), "SIGUSR2");
  await run(...enable.split(" ").slice(1));
  await waitUntil(isReady);
  assert.equal("lacksNames" in (await read()).containment, false);
  assert.doesNotMatch(await run("status"), /no names/);
});
