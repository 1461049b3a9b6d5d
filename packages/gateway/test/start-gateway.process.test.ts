/** The lifetime of a gateway: servers that connect, fail and hang, and disposal that leaves nothing running. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startGateway } from "@toolcrib/gateway";
import type { JsonObject } from "@toolcrib/json";
import {
  freePort,
  isProcessAlive,
  makeTemporaryDirectory,
  runProcess,
  startEchoHttpServer,
  waitUntil,
} from "@toolcrib/testing";
import {
  configOf,
  createTestLogger,
  dataOf,
  echoStdio,
  onHttp,
  somebody,
  startTestGateway,
  textOf,
} from "./gateway-harness.ts";

describe("startGateway()", () => {
  it("connects eight servers while another is dead and another hangs", async () => {
    await using echo = await startEchoHttpServer();
    await using hanging = await startEchoHttpServer({ hangInitialize: true });
    const good = Array.from({ length: 7 }, (_, at) => onHttp(`good${at}`, echo.url));
    await using test = await startTestGateway(
      {
        tool_servers: [
          onHttp("dead", `http://127.0.0.1:${await freePort()}/mcp`),
          onHttp("hanging", hanging.url),
          ...good,
          echoStdio("child"),
        ],
      },
      { isAwaited: false },
    );
    const { gateway } = test;
    let isReady = false;
    void gateway.ready().then(() => {
      isReady = true;
    });
    const states = () => gateway.status().servers.map(({ id, health }) => `${id} ${health.state}`);
    await waitUntil(() => states().filter((one) => one.endsWith(" ready")).length === 8);
    assert.equal(isReady, false);
    assert.ok(states().includes("hanging starting"));
    for (const id of ["good0", "good6", "child"]) {
      const outcome = await gateway.call(somebody, `${id}:echo`, { text: id });
      assert.equal(outcome.kind === "result" && textOf(outcome.result), id);
    }
    const messageOf = async (name: string, signal?: AbortSignal) => {
      const outcome = await gateway.call(somebody, name, {}, signal === undefined ? {} : { signal });
      return outcome.kind === "failed" ? outcome.error.message : outcome.kind;
    };
    assert.match(await messageOf("dead:echo"), /the server "dead" is not available/);
    // The call waits for its server, until its caller gives up.
    const givenUp = await messageOf("hanging__echo", AbortSignal.timeout(200));
    assert.match(givenUp, /the server "hanging" is starting; try again/);
    assert.deepEqual(
      gateway
        .listTools(somebody)
        .filter(({ origin }) => origin !== "meta")
        .slice(0, 1)
        .map(({ id }) => id),
      ["good0:echo"],
    );
    assert.equal(isReady, false);
    assert.match(gateway.status().servers[0]?.health.reason ?? "", /nothing listens|refused|reach/i);
  });

  it("is ready when every server has responded or timed out", async () => {
    await using echo = await startEchoHttpServer({ builtin: ["echo"] });
    await using hanging = await startEchoHttpServer({ hangInitialize: true });
    await using test = await startTestGateway(
      { tool_servers: [onHttp("hanging", hanging.url), onHttp("echo", echo.url)] },
      { upstreamLimits: { handshakeTimeoutMs: 1000 } },
    );
    const [late] = test.gateway.status().servers;
    assert.equal(late?.health.state, "unavailable");
    assert.match(late.health.reason ?? "", /within \d+ ms/);
    // On a busy machine the first attempt of the other one can be too late, too.
    await waitUntil(() => test.gateway.status().servers[1]?.health.state === "ready");
  });

  it("fails only the server whose secret cannot be read, reports the secret and the fix, and starts the server when it can", async () => {
    await using echo = await startEchoHttpServer();
    await using directory = await makeTemporaryDirectory();
    const file = join(directory.path, "key");
    const declared = onHttp("needy", echo.url);
    const headers = { "X-Api-Key": { secret_key_ref: { file } } };
    await using test = await startTestGateway({
      tool_servers: [
        { ...declared, transport: { ...(declared["transport"] as JsonObject), headers } },
        onHttp("other", echo.url),
      ],
    });
    const { gateway } = test;
    const [needy, other] = gateway.status().servers;
    assert.equal(needy?.health.state, "unavailable");
    assert.match(
      needy?.health.reason ?? "",
      /^Tool server "needy" cannot start: Cannot read the secret file .*key" *: .*\(headers\.X-Api-Key\).*\[toolcrib\.json:\d+:\d+\] \(create it \(mode 600\), or correct the path\)$/,
    );
    assert.equal(other?.health.state, "ready");
    const failed = await gateway.call(somebody, "needy:echo", {});
    assert.equal(failed.kind, "failed");
    writeFileSync(file, "the-key", { mode: 0o600 });
    await waitUntil(() => gateway.status().servers[0]?.health.state === "ready");
    const outcome = await gateway.call(somebody, "needy:request", {});
    assert.match(JSON.stringify(outcome), /"x-api-key\\":\\"\[secret needy\]\\"/);
  });

  it("reports the enforced parts of a containment, and warns about the others", async () => {
    await using echo = await startEchoHttpServer({ builtin: ["echo"] });
    const server = (id: string, trust_state: string, containment?: JsonObject) => ({
      ...onHttp(id, echo.url),
      trust_state,
      ...(containment === undefined ? {} : { containment }),
    });
    const both = ["network_egress", "filesystem_write"];
    const cases: readonly (readonly [JsonObject, notEnforced: readonly string[]])[] = [
      [server("certified", "certified"), []],
      [server("verified", "verified"), ["filesystem_write"]],
      [server("unverified", "unverified"), both],
      [server("declared", "certified", { network_egress: "deny" }), ["network_egress"]],
      [server("open", "unverified", { network_egress: "allow", filesystem_write: "allow" }), []],
    ];
    await using test = await startTestGateway({ tool_servers: cases.map(([one]) => one) });
    const warned = test.logger.records.filter(({ message }) => message.includes("NOT enforced"));
    for (const [{ id }, notEnforcedParts] of cases) {
      const { containment } = test.gateway.status().servers.find((one) => one.id === id) ?? assert.fail();
      assert.deepEqual(
        [containment?.enforced, containment?.enforcedParts, containment?.notEnforcedParts],
        [notEnforcedParts.length === 0, ["max_execution_seconds"], notEnforcedParts],
        String(id),
      );
      const warnings = warned.filter(({ fields }) => "server" in fields && fields.server === id);
      assert.equal(warnings.length, notEnforcedParts.length === 0 ? 0 : 1, String(id));
    }
  });

  it("reports the state of everything", async () => {
    await using echo = await startEchoHttpServer({ builtin: ["echo", "sleep"] });
    await using test = await startTestGateway({
      tool_servers: [
        onHttp("a", echo.url, { name: "The A", labels: { team: "x" } }),
        {
          ...echoStdio("b", "--builtin", "echo,crash"),
          trust_state: "unverified",
          first_contact: "pin",
          containment: { network_egress: "deny" },
        },
      ],
    });
    const { gateway } = test;
    const client = await test.connect();
    const call = gateway.call(somebody, "a:sleep", { ms: 200 });
    await waitUntil(() => gateway.callsInFlight() === 1);
    const { servers: same, toolspecs, packages } = gateway.status();
    assert.deepEqual(gateway.sources(), { servers: same, toolspecs, packages });
    const { servers, startedAt, url, discovery, configuration, ...rest } = gateway.status();
    assert.deepEqual(configuration?.files, ["toolcrib.json"]);
    assert.match(configuration?.digest ?? "", /^sha256:[0-9a-f]{64}$/);
    const { endpoints, ...lists } = discovery;
    assert.deepEqual(lists, { listedTokens: 0, savedTokens: 0, cutTokens: 0 });
    assert.deepEqual(
      endpoints.map(({ path, mode, listed, tools: all }) => ({ path, mode, listed, all })),
      [{ path: "/mcp", mode: "full", listed: 12, all: 12 }],
    );
    assert.deepEqual(rest, {
      version: "0.0.1",
      toolspecs: [],
      tools: 4,
      sessions: 1,
      callsInFlight: 1,
      tasks: { running: 0, asking: 0, ended: 0, resultBytes: 0, refused: 0 },
      quarantined: [],
      waiting: [],
      limits: [],
      pauses: [],
      idleRules: [],
      anchors: [],
      ownTools: 10,
      packages: [],
    });
    assert.ok(Date.parse(startedAt) <= Date.now());
    assert.equal(`${url}/mcp`, (await test.endpoint()).href);
    const [a, b] = servers;
    const { health: ofA, serverInfo, ...factsOfA } = a ?? assert.fail();
    assert.equal(ofA.state, "ready");
    assert.deepEqual(serverInfo, { name: "echo", version: "1.0.0" });
    assert.deepEqual(factsOfA, {
      id: "a",
      name: "The A",
      transport: "streamable_http",
      trustState: "certified",
      mutabilityClass: "unknown",
      containment: {
        networkEgress: "allow",
        filesystemWrite: "allow",
        maxExecutionSeconds: 300,
        enforced: true,
        enforcedParts: ["max_execution_seconds"],
        notEnforcedParts: [],
        judgedParts: [],
      },
      labels: { team: "x" },
      tools: 2,
      resources: 3,
      prompts: 2,
      protocolVersion: "2025-11-25",
      pid: undefined,
      restarts: 0,
    });
    const ofB = b?.containment;
    assert.match(String(ofB?.tier), /^(?:bubblewrap|unshare)$/);
    assert.deepEqual(
      [ofB?.enforced, ofB?.enforcedParts],
      [true, ["network_egress", "filesystem_write", "max_execution_seconds"]],
    );
    assert.ok(isProcessAlive(Number(b?.pid)));
    await gateway.call(somebody, "b:crash", {});
    await waitUntil(() => gateway.status().servers[1]?.restarts === 1);
    assert.equal((await call).kind, "result");
    await client.close();
    assert.throws(() => gateway.serverLog("c", 1), { code: "SERVER_NOT_FOUND", hint: "the ids are a, b" });
    await test.stop();
    const records = test.audit();
    assert.deepEqual(
      dataOf(records, "server.started")
        .map(({ server, transport, toolCount }) => [server, transport, toolCount])
        .sort(),
      [
        ["a", "streamable_http", 2],
        ["b", "stdio", 2],
        ["b", "stdio", 2],
      ],
    );
    assert.equal(dataOf(records, "server.stopped")[0]?.server, "b");
  });

  it("records a digest of the whole configuration that does not depend on its place or format", async () => {
    const digestOf = async (document: JsonObject) => {
      await using test = await startTestGateway(document, { isAwaited: false });
      await test.stop();
      const [changed] = dataOf(test.audit(), "config.changed");
      assert.deepEqual(changed?.files, ["toolcrib.json"]);
      return changed?.digest;
    };
    const server = onHttp("a", "http://127.0.0.1:9/mcp");
    const digest = await digestOf({ tool_servers: [server] });
    assert.match(digest ?? "", /^sha256:[0-9a-f]{64}$/);
    const reordered = Object.fromEntries(Object.entries(server).reverse()) as JsonObject;
    assert.equal(await digestOf({ policy: {}, tool_servers: [reordered] }), digest);
    for (const other of [
      { tool_servers: [{ ...server, trust_state: "verified" }] },
      { tool_servers: [onHttp("a", "http://127.0.0.1:10/mcp")] },
      { tool_servers: [server], policy: { deny: ["a:*"] } },
      { tool_servers: [server], serve: { mode: "search" } },
    ]) {
      assert.notEqual(await digestOf(other), digest);
    }
  });

  it("refuses an unusable home folder, and leaves nothing running", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    writeFileSync(home, "in the way");
    const starting = startGateway(configOf({ tool_servers: [echoStdio("a")] }), {
      home,
      env: {},
      directory: directory.path,
      logger: createTestLogger(),
      version: "0.0.1",
      configFiles: [],
    });
    await assert.rejects(starting, { code: "STORE_HOME_UNUSABLE" });
  });
});

describe("listen()", () => {
  it("starts one HTTP server for all calls, and retries after the port was in use", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    await using test = await startTestGateway({ serve: { listen: `127.0.0.1:${port}` } });
    await assert.rejects(test.gateway.listen(), { code: "HTTP_ADDRESS_IN_USE" });
    await new Promise((resolve) => taken.close(resolve));
    const [first, second] = await Promise.all([test.gateway.listen(), test.gateway.listen()]);
    assert.deepEqual([first.url, second.url], Array(2).fill(`http://127.0.0.1:${port}`));
    const stopping = test.gateway[Symbol.asyncDispose]();
    await assert.rejects(test.gateway.listen(), { code: "HTTP_LISTEN_FAILED" });
    await stopping;
    await assert.rejects(fetch(`${first.url}/healthz`));
  });

  it("and dispose() at the same time leave no HTTP server running", async () => {
    await using test = await startTestGateway({});
    const listening = test.gateway.listen();
    await test.stop();
    const { url } = await listening;
    await assert.rejects(fetch(`${url}/healthz`));
  });
});

describe("dispose()", () => {
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  const child = join(import.meta.dirname, "fixtures/gateway-child.ts");

  it("answers calls in flight, ends every process, and lets the program exit by itself", async () => {
    await using echo = await startEchoHttpServer();
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    mkdirSync(home);
    const args = [...conditions, child, home, "use", echo.url];
    const { code, stdout, stderr } = await runProcess(process.execPath, args);
    assert.equal(code, 0, stderr);
    const [first = "", second = "", third] = stdout.trim().split("\n");
    const { pids, kinds } = JSON.parse(first) as {
      readonly pids: (number | null)[];
      readonly kinds: string[];
    };
    assert.deepEqual(kinds, ["result", "result", "result"]);
    assert.deepEqual(JSON.parse(second), { last: "result" });
    assert.equal(third, "disposed");
    const started = pids.filter((pid) => typeof pid === "number");
    assert.ok(started.length >= 3, first);
    assert.deepEqual(started.filter(isProcessAlive), []);
    assert.equal(echo.sessionCount, 0);
  });

  it("can be called before anything is ready", async () => {
    await using echo = await startEchoHttpServer();
    await using directory = await makeTemporaryDirectory();
    const args = [...conditions, child, directory.path, "early", echo.url];
    const { code, stdout } = await runProcess(process.execPath, args);
    assert.deepEqual([code, stdout], [0, "disposed\n"]);
    assert.equal(echo.sessionCount, 0);
  });
});
