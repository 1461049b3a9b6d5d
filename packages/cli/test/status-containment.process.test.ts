/** What `toolcrib status` and the log of `serve` say about servers whose containment is open, or opened by a change. */

import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { skipWithoutSandbox } from "./skip-without-sandbox.ts";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

const skip = (await skipWithoutSandbox()) ?? false;

/** Writes a configuration as editors do: to another file, which replaces the first one. */
function writeConfig(directory: TemporaryDirectory, servers: readonly object[]): void {
  writeFileSync(directory.join("new.json"), JSON.stringify({ tool_servers: servers }));
  renameSync(directory.join("new.json"), directory.join("toolcrib.json"));
}

async function allReady(setting: { readonly directory: string }): Promise<boolean> {
  const { stdout } = await runToolcrib(["status", "--json"], setting);
  const { servers } = JSON.parse(stdout) as { servers: { health: { state: string } }[] };
  return servers.every(({ health }) => health.state === "ready");
}

test("status shows on 80 columns what is closed and what is open, of each server", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  writeConfig(directory, [
    echoServer("filesystem"),
    {
      ...echoServer("sequential-thinking"),
      containment: { filesystem_write: "scoped", write_paths: ["out"] },
    },
    { ...echoServer("verified"), trust_state: "verified" },
    { ...echoServer("certified"), trust_state: "certified" },
  ]);
  await using gateway = await startServe(["--listen", "127.0.0.1:0"], setting);
  await waitUntil(() => allReady(setting));
  const expected = [
    ["filesystem", /^(?:bubblewrap|unshare|seatbelt): net deny, write deny$/],
    ["sequential-thinking", /^(?:bubblewrap|unshare|seatbelt): net deny, write scoped$/],
    ["verified", /^(?:bubblewrap|unshare|seatbelt): net allow, write deny$/],
    ["certified", /^no sandbox: net allow, write allow$/],
  ] as const;
  const { stdout: narrow } = await runToolcrib(["status", "--no-color"], { ...setting, columns: 80 });
  const lines = narrow.split("\n");
  for (const [id, text] of expected) {
    const at = lines.findIndex((line) => line.startsWith(`${id} `));
    assert.match(lines[at + 1]?.trim() ?? "", text, narrow);
    assert.ok((lines[at] ?? "").length <= 80, narrow);
  }
  const { stdout: wide } = await runToolcrib(["status"], setting);
  assert.match(wide, /^verified +ready .* net allow, write deny$/m);
  assert.match(gateway.stdout(), /verified +stdio +\d+ tools, \w+: net allow, write deny\n/);
});

test("a change that opens a server is a warning in the log, and another change of it is none", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const server = echoServer("probe");
  writeConfig(directory, [server]);
  await using gateway = await startServe(["--listen", "127.0.0.1:0"], setting);
  await waitUntil(() => allReady(setting));
  const applied = () => gateway.stderr().split("Applied a changed configuration").length - 1;

  writeConfig(directory, [{ ...server, labels: { team: "x" } }]);
  await waitUntil(() => applied() === 1);
  assert.doesNotMatch(gateway.stderr(), /allows more than before/);

  writeConfig(directory, [{ ...server, trust_state: "verified" }]);
  await waitUntil(() => applied() === 2);
  const warnings = gateway
    .stderr()
    .split("\n")
    .filter((line) => line.includes("allows more than before"));
  assert.equal(warnings.length, 1, gateway.stderr());
  const { level, server: id, changes } = JSON.parse(warnings[0] ?? "");
  assert.deepEqual([level, id, changes], ["warn", "probe", ["network_egress from deny to allow"]]);

  // What is closed again is no warning.
  writeConfig(directory, [{ ...server, trust_state: "verified", containment: { network_egress: "deny" } }]);
  await waitUntil(() => applied() === 3);
  assert.equal(gateway.stderr().split("allows more than before").length, 2);

  // The audit trail has what the log warned of.
  let recorded: unknown[] = [];
  await waitUntil(async () => {
    const { stdout } = await runToolcrib(["audit", "export"], setting);
    const records = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    recorded = records.filter(({ type }) => type === "config.changed").map(({ data }) => data.loosened);
    return recorded.length === 4;
  });
  const opened = [{ server: "probe", changes: ["network_egress from deny to allow"] }];
  assert.deepEqual(recorded, [undefined, undefined, opened, undefined]);
});
