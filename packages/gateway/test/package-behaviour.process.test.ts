/** The behaviour of installed packages: tests that run again, what changed on record, and quarantine until a release. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { type Gateway, startGateway } from "@toolcrib/gateway";
import { createTestHistory } from "@toolcrib/store";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { configOf, createTestLogger, readAudit, somebody } from "./gateway-harness.ts";
import { echoManifest, echoTest, putPackages, startLoopbackServer } from "./package-harness.ts";

const echo = { manifest: echoManifest, files: { "tests/echo.test.json": echoTest } };

/** Starts a gateway that runs the tests of its packages all the time. */
async function startWatching(home: string, url: string, trustState: string, everyMs = 50): Promise<Gateway> {
  const config = configOf({
    tests: { every: "6h" },
    packages: { "demo.echo": { endpoint: { url }, trust_state: trustState } },
  });
  assert.equal(config.tests.everyMs, 6 * 3_600_000);
  const gateway = await startGateway(
    { ...config, tests: { everyMs } },
    {
      home,
      env: { PATH: process.env["PATH"] },
      directory: home,
      logger: createTestLogger(),
      version: "0.0.1",
      configFiles: [],
    },
  );
  await gateway.ready();
  return gateway;
}

const stateOf = (gateway: Gateway) => gateway.status().packages[0]?.health.state;
const changesIn = (home: string) =>
  readAudit(home).flatMap(({ type, data }) => (type === "behaviour.changed" ? [data] : []));

test("a package whose result changes is quarantined until the operator releases it, also after a restart", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  let answer = '{"message":"hello"}';
  await using server = await startLoopbackServer(() => ({ body: answer }));
  putPackages(home, [echo]);
  const history = createTestHistory(home, { randomBytes });
  {
    await using gateway = await startWatching(home, `${server.url}/mcp/echo`, "verified");
    await waitUntil(async () => (await history.list("demo.echo")).length >= 2);
    assert.equal(stateOf(gateway), "ready");
    assert.deepEqual(changesIn(home), []);
    answer = '{"message":"goodbye"}';
    await waitUntil(() => stateOf(gateway) === "quarantined");
    const reason =
      /its behaviour changed: tests\/echo\.test\.json: expected: \$\.message expected "hello", got "goodbye"/;
    assert.match(gateway.status().packages[0]?.health.reason ?? "", reason);
    assert.match(
      gateway
        .status()
        .quarantined.map(({ id, reason: why }) => `${id} ${why}`)
        .join(),
      /demo\.echo.*behaviour/,
    );
    const outcome = await gateway.call(somebody, "demo.echo", { message: "hello" });
    assert.notEqual(outcome.kind, "result");
    await waitUntil(async () => (await history.holds()).has("demo.echo"));
  }
  const [change] = changesIn(home);
  assert.deepEqual(
    [change?.["kind"], change?.["effect"], change?.["test"]],
    ["failed", "quarantined", "tests/echo.test.json"],
  );
  await using gateway = await startWatching(home, `${server.url}/mcp/echo`, "verified");
  assert.equal(stateOf(gateway), "quarantined");
  assert.equal(await history.release("demo.echo"), true);
  await waitUntil(() => stateOf(gateway) === "ready");
  assert.equal((await gateway.call(somebody, "demo.echo", { message: "hello" })).kind, "result");
  // The behaviour that was released is the one to compare with.
  const runs = (await history.list("demo.echo")).length;
  await waitUntil(async () => (await history.list("demo.echo")).length >= runs + 2);
  assert.equal(stateOf(gateway), "ready");
  assert.ok(readAudit(home).some(({ type }) => type === "behaviour.released"));
});

test("another shape of a result that passes counts, and a certified package is recorded only", async () => {
  for (const [trustState, state, effect] of [
    ["unverified", "quarantined", "quarantined"],
    ["certified", "ready", "recorded"],
  ] as const) {
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    let answer = '{"message":"hello"}';
    await using server = await startLoopbackServer(() => ({ body: answer }));
    putPackages(home, [echo]);
    const history = createTestHistory(home, { randomBytes });
    await using gateway = await startWatching(home, `${server.url}/mcp/echo`, trustState);
    await waitUntil(async () => (await history.list("demo.echo")).length >= 1);
    answer = '{"message":"hello","debug":{"at":1}}';
    await waitUntil(() => changesIn(home).length > 0);
    const [change] = changesIn(home);
    assert.deepEqual([change?.["kind"], change?.["effect"]], ["shape", effect]);
    await waitUntil(() => stateOf(gateway) === state);
  }
});

test("an API that is down is on record, and holds nothing back", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  let status = 200;
  await using server = await startLoopbackServer(() => ({ status, body: '{"message":"hello"}' }));
  putPackages(home, [echo]);
  const history = createTestHistory(home, { randomBytes });
  await using gateway = await startWatching(home, `${server.url}/mcp/echo`, "unverified");
  await waitUntil(async () => (await history.list("demo.echo")).length >= 1);
  status = 404;
  await waitUntil(() => changesIn(home).length > 0);
  assert.deepEqual([changesIn(home)[0]?.["kind"], changesIn(home)[0]?.["effect"]], ["error", "recorded"]);
  assert.equal(stateOf(gateway), "ready");
});

test("a result that changed during an outage is found after it, and runs of the command do not count", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  let answer: { status?: number; body: string } = { body: '{"message":"hello"}' };
  await using server = await startLoopbackServer(() => answer);
  putPackages(home, [echo]);
  const history = createTestHistory(home, { randomBytes });
  await using gateway = await startWatching(home, `${server.url}/mcp/echo`, "verified");
  await waitUntil(async () => (await history.list("demo.echo")).length >= 1);
  answer = { status: 404, body: "{}" };
  await waitUntil(() => changesIn(home).length > 0);
  const runs = await history.list("demo.echo");
  await waitUntil(async () => (await history.list("demo.echo")).length >= runs.length + 3);
  // An outage is on record once, however long it is.
  assert.deepEqual(
    changesIn(home).map(({ kind }) => kind),
    ["error"],
  );
  // The operator tries the changed tool.
  const [first] = runs;
  assert.ok(first !== undefined);
  const failed = { path: "tests/echo.test.json", outcome: "failed", latencyMs: 1 } as const;
  await history.add({ ...first, by: "command", tests: [failed] });
  answer = { body: '{"message":"goodbye"}' };
  await waitUntil(() => stateOf(gateway) === "quarantined");
  await waitUntil(async () => (await history.holds()).has("demo.echo"));
});

test("a run that cannot be stored holds the package back all the same", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  let answer = '{"message":"hello"}';
  await using server = await startLoopbackServer(() => ({ body: answer }));
  putPackages(home, [echo]);
  const history = createTestHistory(home, { randomBytes });
  await using gateway = await startWatching(home, `${server.url}/mcp/echo`, "verified");
  await waitUntil(async () => (await history.list("demo.echo")).length >= 1);
  // A folder in the place of the summary: what is written after the run fails.
  const summary = join(home, "packages", "demo.echo.metadata.json");
  rmSync(summary, { force: true });
  mkdirSync(join(summary, "x"), { recursive: true });
  answer = '{"message":"goodbye"}';
  await waitUntil(() => stateOf(gateway) === "quarantined");
  await waitUntil(async () => (await history.holds()).has("demo.echo"));
});

test("holds that cannot be read at the start hold every package back that is not certified, until they can", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  await using server = await startLoopbackServer(() => ({ body: '{"message":"hello"}' }));
  putPackages(home, [echo]);
  const holds = join(home, "test-history", "holds.json");
  mkdirSync(join(home, "test-history"), { recursive: true, mode: 0o700 });
  writeFileSync(holds, "{", { mode: 0o600 });
  const url = `${server.url}/mcp/echo`;
  {
    await using certified = await startWatching(home, url, "certified");
    assert.equal(stateOf(certified), "ready");
  }
  await using gateway = await startWatching(home, url, "verified");
  assert.equal(stateOf(gateway), "quarantined");
  const reason = gateway.status().packages[0]?.health.reason ?? "";
  assert.match(reason, /Cannot read ".*holds\.json": its content is damaged: restore the file from a backup/);
  assert.notEqual((await gateway.call(somebody, "demo.echo", { message: "hello" })).kind, "result");
  rmSync(holds);
  await waitUntil(() => stateOf(gateway) === "ready");
});

test("a release that cannot be stored is not reported, and the package stays quarantined", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  let answer = '{"message":"hello"}';
  await using server = await startLoopbackServer(() => ({ body: answer }));
  putPackages(home, [echo]);
  const history = createTestHistory(home, { randomBytes });
  await using gateway = await startWatching(home, `${server.url}/mcp/echo`, "verified");
  await waitUntil(async () => (await history.list("demo.echo")).length >= 1);
  answer = '{"message":"goodbye"}';
  await waitUntil(async () => (await history.holds()).has("demo.echo"));
  const { path: socketPath } = await gateway.listenControl();
  const release = () =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const path = "/api/v1/servers/demo.echo/release";
      const sent = request({ socketPath, path, method: "POST", agent: false }, async (response) => {
        let body = "";
        for await (const chunk of response) body += String(chunk);
        resolve({ status: response.statusCode, body });
      });
      sent.once("error", reject).end();
    });
  const holds = join(home, "test-history", "holds.json");
  const stored = readFileSync(holds);
  writeFileSync(holds, "{");
  assert.equal((await release()).status, 503);
  assert.equal(stateOf(gateway), "quarantined");
  writeFileSync(holds, stored);
  assert.deepEqual(await release(), { status: 200, body: '{"id":"demo.echo","released":true}' });
  assert.equal((await history.holds()).has("demo.echo"), false);
  await waitUntil(() => stateOf(gateway) === "ready");
});

test("the gateways of a home run the tests once in each interval, together and after a restart", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  await using server = await startLoopbackServer(() => ({ body: '{"message":"hello"}' }));
  putPackages(home, [echo]);
  const history = createTestHistory(home, { randomBytes });
  const everyMs = 200;
  const url = `${server.url}/mcp/echo`;
  const runs = async () => await history.list("demo.echo");
  {
    await using _one = await startWatching(home, url, "verified", everyMs);
    await using _other = await startWatching(home, url, "verified", everyMs);
    await waitUntil(async () => (await runs()).length >= 6);
  }
  const count = (await runs()).length;
  await using _again = await startWatching(home, url, "verified", everyMs);
  await waitUntil(async () => (await runs()).length >= count + 2);
  const times = (await runs()).map(({ at }) => Date.parse(at));
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  assert.ok(
    gaps.every((gap) => gap >= everyMs),
    gaps.join(),
  );
});
