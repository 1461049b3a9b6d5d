/**
 * `toolcrib reload` and `status` about a change of which a part could not be put in force: the gateway runs in this
 * process, where the failure of that part is injected; the commands ask it over its control socket.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { RetiredParts } from "@toolcrib/config-changes";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";
import { startUnwatchedGateway } from "./unwatched-gateway.ts";

const reason = "injected failure of the limits";
const limits = (name: string) => ({ limits: [{ name, rate: "1000/minute" }] });

test("reload names what is not in force and fails, status shows it, and a restart puts it in force", async (t) => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const path = directory.join("toolcrib.json");
  const write = (guards: object, deny: readonly string[]) =>
    writeFileSync(
      path,
      JSON.stringify({ guards, policy: { deny }, serve: { listen: "127.0.0.1:0", auth: "none" } }),
    );
  const run = (...args: readonly string[]) =>
    runToolcrib([...args, "--home", home], { directory: directory.path });
  const start = () => startUnwatchedGateway(path, home);
  write(limits("few"), []);
  {
    await using _gateway = await start();
    const retired = t.mock.method(RetiredParts.prototype, "add", () => {
      throw new Error(reason);
    });
    write(limits("more"), ["a:other"]);
    const reloaded = await run("reload");
    assert.equal(reloaded.code, 1, reloaded.stderr);
    assert.equal(
      reloaded.stdout,
      `applied policy.deny\nnot in force a part of the change; restart the gateway: ${reason}\n`,
    );
    retired.mock.restore();

    // A change that follows applies, and what failed before it is still not in force.
    write(limits("more"), ["a:other", "a:more"]);
    const again = await run("reload", "--json");
    assert.equal(again.code, 1, again.stderr);
    const [gateway] = JSON.parse(again.stdout).gateways;
    assert.deepEqual([gateway.applied, gateway.incomplete], [["policy.deny"], [reason]]);
    const unchanged = await run("reload");
    assert.equal(unchanged.code, 1, unchanged.stderr);
    assert.equal(unchanged.stdout, `not in force a part of the change; restart the gateway: ${reason}\n`);
    const status = await run("status");
    assert.match(
      status.stdout,
      new RegExp(`^not in force a part of the changed configuration; restart the gateway: ${reason}$`, "m"),
    );
  }
  await using _restarted = await start();
  const reloaded = await run("reload");
  assert.equal(reloaded.code, 0, reloaded.stderr);
  assert.match(reloaded.stdout, /^Nothing to apply: the configuration in the files is already in use\n$/);
  assert.doesNotMatch((await run("status")).stdout, /not in force/);
});
