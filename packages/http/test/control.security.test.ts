/** The control socket: its place, its permissions, its identity, and the routes that need a role. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { sendJson } from "@toolcrib/mcp";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { asAlice, ask, modern, startControl, startTestServer } from "./http-harness.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

type Routes = NonNullable<NonNullable<Parameters<typeof startControl>[1]>["routes"]>;

/** A route that changes something, with the number of changes. */
function changingRoute(role: "operator" | "admin"): { readonly routes: Routes; readonly changes: string[] } {
  const changes: string[] = [];
  return {
    changes,
    routes: {
      "/api/v1/change": {
        access: { kind: "change", role, methods: ["POST"] },
        async answer(response, _query, identity) {
          changes.push(`${identity?.issuer}|${identity?.subject}`);
          sendJson(response, 200, "{}");
          return undefined;
        },
      },
    },
  };
}

test("a token cannot use a route that changes the gateway", async () => {
  const { routes, changes } = changingRoute("operator");
  await using tcp = await startTestServer({ deps: { routes } });
  const path = "/api/v1/change";
  const answer = await ask(tcp, { path, method: "POST", headers: asAlice });
  assert.equal(answer.status, 403);
  assert.equal(answer.code, "HTTP_ROLE_REQUIRED");
  assert.match(answer.text, /needs the role \\"operator\\".*"hint":"use the toolcrib command/);
  assert.equal((await ask(tcp, { path, method: "POST" })).status, 401);
  assert.deepEqual(changes, []);
});

test("without tokens, nobody can use a route that changes the gateway over TCP", async () => {
  const { routes, changes } = changingRoute("operator");
  await using tcp = await startTestServer({ auth: "none", deps: { authenticate: undefined, routes } });
  const answer = await ask(tcp, { path: "/api/v1/change", method: "POST" });
  assert.deepEqual([answer.status, answer.code, changes], [403, "HTTP_ROLE_REQUIRED", []]);
});

test("a route accepts its own methods only", async () => {
  const { routes, changes } = changingRoute("operator");
  await using directory = await makeTemporaryDirectory();
  await using tcp = await startTestServer({ deps: { routes } });
  await using control = await startControl(directory.path, { routes });
  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
    for (const server of [tcp, control]) {
      const answer = await ask(server, { path: "/api/v1/change", method, headers: asAlice });
      assert.deepEqual([answer.status, answer.headers["allow"]], [405, "POST"], method);
    }
  }
  for (const method of ["POST", "PUT", "DELETE", "PROPFIND"]) {
    const answer = await ask(control, { path: "/api/v1/status", method });
    assert.deepEqual([answer.status, answer.code], [405, "HTTP_METHOD_NOT_ALLOWED"], method);
  }
  assert.deepEqual(changes, []);
});

test("the caller on the control socket is the operator, with or without a token", async () => {
  await using directory = await makeTemporaryDirectory();
  for (const role of ["operator", "admin"] as const) {
    const { routes, changes } = changingRoute(role);
    await using control = await startControl(directory.path, { routes });
    for (const headers of [{}, asAlice, { authorization: "Bearer wrong" }]) {
      const change = await ask(control, { path: "/api/v1/change", method: "POST", headers });
      assert.equal(change.status, 200);
    }
    assert.deepEqual(changes, Array(3).fill("toolcrib:cli|cli"));
  }
});

test("the control socket serves MCP and the JSON API without a token", async () => {
  await using directory = await makeTemporaryDirectory();
  await using control = await startControl(directory.path);
  const { headers, body } = modern("tools/call", { name: "echo", arguments: {} });
  assert.match((await ask(control, { headers, body })).text, /\|cli:cli\|\{\}/);
  const tools = (await ask(control, { path: "/api/v1/tools" })).json as unknown as { wireName: string }[];
  assert.deepEqual(
    tools.map(({ wireName }) => wireName),
    ["files__echo", "files__cli"],
  );
  for (const path of ["/api/v1/status", "/api/v1/servers/files/log", "/healthz", "/metrics"]) {
    assert.equal((await ask(control, { path })).status, 200, path);
  }
  assert.equal((await ask(control, { path: "/api/status" })).code, "HTTP_NOT_FOUND");
});

test("the control socket refuses every Origin", async () => {
  await using directory = await makeTemporaryDirectory();
  await using control = await startControl(directory.path);
  for (const origin of ["http://localhost", "http://127.0.0.1:7090", "https://example.com", "null", ""]) {
    for (const path of ["/mcp", "/api/v1/status", "/healthz"]) {
      const answer = await ask(control, { path, headers: { origin } });
      assert.deepEqual([answer.status, answer.code], [403, "HTTP_ORIGIN_REFUSED"], `${path} ${origin}`);
    }
  }
});

const onPosix = { skip: process.platform === "win32" };

test("only its owner can open the control socket, under any umask", onPosix, async () => {
  await using directory = await makeTemporaryDirectory();
  const run = directory.join("run");
  mkdirSync(run, { mode: 0o777 });
  const umask = process.umask(0);
  try {
    await using control = await startControl(directory.path);
    assert.equal(dirname(control.path), run);
    assert.deepEqual([modeOf(run), modeOf(control.path)], [0o700, 0o600]);
    assert.ok(statSync(control.path).isSocket());
    assert.equal(readdirSync(run).length, 1);
  } finally {
    process.umask(umask);
  }
});

test("two gateways of one home have their own sockets, which disposal removes", onPosix, async () => {
  await using directory = await makeTemporaryDirectory();
  await using first = await startControl(directory.path);
  await using second = await startControl(directory.path);
  assert.notEqual(first.path, second.path);
  for (const control of [first, second]) {
    assert.equal((await ask(control, { path: "/healthz" })).status, 200);
  }
  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await assert.rejects(ask(first), { code: "ENOENT" });
  assert.equal((await ask(second, { path: "/healthz" })).status, 200);
  await second[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(directory.join("run")), []);
});

test("sockets of gateways that have ended are removed, and nothing else", onPosix, async () => {
  await using directory = await makeTemporaryDirectory();
  const run = directory.join("run");
  mkdirSync(run, { mode: 0o700 });
  await leaveSocket(join(run, "dead.sock"));
  await leaveSocket(join(run, "old.draft"));
  await leaveSocket(join(run, "young.draft"));
  utimesSync(join(run, "old.draft"), 1, 1);
  writeFileSync(join(run, "file.sock"), "");
  writeFileSync(join(run, "gateway.json"), "{}");
  await using living = await startControl(directory.path);
  assert.deepEqual(
    readdirSync(run).sort(),
    ["file.sock", "gateway.json", living.path.slice(run.length + 1), "young.draft"].sort(),
  );
});

/** Leaves a socket that nothing listens on. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.new`, resolve));
  // Node removes the name that it bound.
  renameSync(`${path}.new`, path);
  await new Promise((resolve) => server.close(resolve));
  assert.ok(existsSync(path));
}

test("the socket of a home with a long path is in a private temporary directory", onPosix, async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("x".repeat(100));
  const temporaryDirectory = directory.join("tmp");
  mkdirSync(temporaryDirectory);
  await using control = await startControl(home, { temporaryDirectory });
  assert.equal(dirname(dirname(control.path)), temporaryDirectory);
  assert.deepEqual([modeOf(dirname(control.path)), modeOf(control.path)], [0o700, 0o600]);
  assert.equal((await ask(control, { path: "/healthz" })).status, 200);
  await control[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(temporaryDirectory), []);
});

test("without any place for a socket, the error says what to do", onPosix, async () => {
  await using directory = await makeTemporaryDirectory();
  const long = directory.join("x".repeat(100));
  mkdirSync(long);
  await assert.rejects(startControl(long, { temporaryDirectory: long }), {
    code: "CONTROL_LISTEN_FAILED",
    message: /its path is too long for a socket/,
    hint: "set TMPDIR to a folder on a local file system with a short path",
  });
  assert.deepEqual(readdirSync(long), ["run"]);
});
