/** A policy engine that fails while the gateway runs: status and doctor report it, and a later decision works. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess, writeFiles } from "@toolcrib/testing";
import { cleanEnvironment, modulesCommandLine, runToolcrib } from "./transcript.ts";
import { startUnwatchedGateway } from "./unwatched-gateway.ts";

test("status and doctor report that the policy engine failed, and whether calls are denied", async (t) => {
  await using directory = await makeTemporaryDirectory();
  const config = {
    serve: { listen: "127.0.0.1:0", auth: "none" },
    policy: { files: ["main.cedar"] },
  };
  writeFiles(directory.path, {
    "toolcrib.json": JSON.stringify(config),
    "main.cedar": `permit(principal, action == Action::"call", resource) when {
  context.arguments.hasTag("name") && context.arguments.getTag("name") != principal.name };\n`,
  });
  await using gateway = await startUnwatchedGateway(
    directory.join("toolcrib.json"),
    directory.join(".toolcrib"),
  );
  const setting = { directory: directory.path };
  const show = async () => {
    const status = await runToolcrib(["status"], setting);
    const doctor = await runToolcrib(["doctor"], setting);
    return { status: status.stdout, doctor: doctor.stdout };
  };
  const before = await show();
  assert.doesNotMatch(before.status + before.doctor, /policy engine/);

  const require = createRequire(new URL("../../cedar/package.json", import.meta.url));
  const identity = { issuer: "toolcrib:token", subject: "ci", name: "ci", roles: [] };
  let calls = 0;
  const codeOfCall = async () => {
    calls += 1;
    const outcome = await gateway.call(identity, "toolcrib:eval_starlark", {
      code: "return 1",
      name: `${calls}`,
    });
    return outcome.kind === "denied" ? outcome.code : undefined;
  };
  const failOnce = async () => {
    const engine = require("@cedar-policy/cedar-wasm/nodejs") as { statefulIsAuthorized: () => unknown };
    const mocked = t.mock.method(engine, "statefulIsAuthorized", () => {
      throw new Error("memory access out of bounds");
    });
    assert.equal(await codeOfCall(), "POLICY_UNAVAILABLE");
    mocked.mock.restore();
  };
  await failOnce();
  assert.equal(await codeOfCall(), undefined);
  const once = await show();
  const failure = String.raw`the policy engine failed \(1 time, lastly: memory access out of bounds\)`;
  assert.match(once.status, new RegExp(`^replaced: ${failure}$`, "m"));
  assert.match(
    once.doctor,
    /^! policy: the policy engine of the running gateway failed \(1 time, .* and was/m,
  );

  for (let failures = 1; failures < 4; failures += 1) {
    assert.notEqual(await codeOfCall(), "POLICY_UNAVAILABLE");
    await failOnce();
  }
  assert.equal(await codeOfCall(), "POLICY_UNAVAILABLE");
  const { stdout: status } = await runToolcrib(["status"], setting);
  assert.match(status, /^calls are denied for up to a minute: the policy engine failed \(4 times, /m);
  // In a process of its own: in this one, it has no engine either.
  const options = { cwd: directory.path, env: cleanEnvironment(directory.path) };
  const runApart = async (...args: string[]) =>
    (await runProcess(process.execPath, [...modulesCommandLine, ...args], options)).stdout;
  assert.match(await runApart("doctor"), /^✗ policy: the policy engine of .* denied for up to a minute$/m);

  // The policy has not changed, so that no call would be decided differently.
  const failures = 5;
  const simulated = JSON.parse(await runApart("policy", "simulate", "--json"));
  assert.deepEqual(
    [simulated.calls, simulated.same, simulated.engineFailed, simulated.changes],
    [calls - failures, calls - failures, failures, []],
  );
  assert.match(
    await runApart("policy", "simulate"),
    /^Not compared: 5 calls denied because the policy engine had failed \(POLICY_UNAVAILABLE\)$/m,
  );
});
