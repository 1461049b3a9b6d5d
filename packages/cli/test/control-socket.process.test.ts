/** Commands reach a running gateway over its control socket, without a token. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { echoServer, runFileIn, runToolcrib, startServe } from "./transcript.ts";

const config = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:0" } };

test("commands need no token, and the socket is private and gone after the stop", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  await using gateway = await startServe(["--auth", "token"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const { controlPath } = JSON.parse(readFileSync(runFileIn(directory.path) ?? "", "utf8"));
  assert.equal(dirname(controlPath), directory.join(".toolcrib/run"));
  assert.equal(statSync(dirname(controlPath)).mode & 0o777, 0o700);
  assert.equal(statSync(controlPath).mode & 0o777, 0o600);

  rmSync(directory.join(".toolcrib/tokens"), { recursive: true });
  // A wrong token in the environment of the command is not sent.
  const wrong = { ...setting, env: { TOOLCRIB_TOKEN: "x".repeat(40) } };
  const [status, list, call, search, described, doctor] = await Promise.all([
    runToolcrib(["status", "--json"], setting),
    runToolcrib(["list", "--json"], setting),
    runToolcrib(["call", "echo__echo", "-a", "text=hello"], wrong),
    runToolcrib(["search", "echo", "--json"], setting),
    runToolcrib(["describe", "echo__echo", "--json"], setting),
    runToolcrib(["doctor"], setting),
  ]);
  assert.deepEqual([status.code, JSON.parse(status.stdout).pid], [0, gateway.pid]);
  assert.equal(JSON.parse(list.stdout).length, 29);
  assert.deepEqual([call.code, call.stdout], [0, "hello\n"]);
  assert.equal(JSON.parse(search.stdout)[0].id, "echo:echo");
  assert.equal(JSON.parse(described.stdout).id, "echo:echo");
  assert.match(doctor.stdout, /server echo.*responds/);

  const [known, unknown] = await Promise.all([
    runToolcrib(["release", "echo"], setting),
    runToolcrib(["release", "ekho"], setting),
  ]);
  assert.deepEqual([known.code, known.stdout], [0, "echo is not quarantined\n"]);
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [4, 'error CLI_SERVER_NOT_FOUND: No tool server has the id "ekho"\nhint: did you mean echo?\n'],
  );

  const audit = await runToolcrib(["audit", "tail", "--json"], setting);
  assert.match(audit.stdout, /"cli"/);
  assert.equal((await gateway.stop()).code, 0);
  assert.equal(existsSync(controlPath), false);
});

test("without its socket, the error says so and names the fix", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve: { listen: "127.0.0.1:0" } }));
  const setting = { directory: directory.path };
  await using gateway = await startServe([], setting);
  const path = runFileIn(directory.path) ?? assert.fail("no run file");
  const { controlPath, ...older } = JSON.parse(readFileSync(path, "utf8"));
  const check = async (command: string, message: RegExp) => {
    const { code, stdout } = await runToolcrib([command, "--json"], setting);
    const { error } = JSON.parse(stdout);
    assert.deepEqual([code, error.code], [5, "CLI_GATEWAY_UNUSABLE"]);
    assert.match(error.message, message);
    assert.match(error.hint, /^restart the gateway/);
  };
  rmSync(controlPath);
  await check("status", /its control socket ".*\.sock" is missing$/);
  writeFileSync(path, JSON.stringify(older), { mode: 0o600 });
  await check("list", /it has no control socket$/);
  assert.equal((await gateway.stop()).code, 0);
});
