/** `toolcrib token create`: where the token is printed. */

import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { skipWithoutTerminal, TerminalRun } from "./terminal.ts";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

test("token create prints the token into no pipe without --print, and with it nothing else", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const tokenOf = (name: string) => readFileSync(directory.join(`.toolcrib/tokens/${name}`), "utf8").trim();
  const plain = await runToolcrib(["token", "create", "plain"], setting);
  const json = await runToolcrib(["token", "create", "json", "--json"], setting);
  for (const [name, { stdout, stderr }] of Object.entries({ plain, json })) {
    assert.match(tokenOf(name), /^tcb_/);
    assert.ok(!`${stdout}${stderr}`.includes(tokenOf(name)), name);
  }
  const printed = await runToolcrib(["token", "create", "printed", "--print"], setting);
  assert.equal(printed.stdout, `${tokenOf("printed")}\n`);
  assert.ok(!printed.stderr.includes(tokenOf("printed")));
  const both = await runToolcrib(["token", "create", "both", "--print", "--json"], setting);
  assert.equal((JSON.parse(both.stdout) as { token: string }).token, tokenOf("both"));
});

test("token create prints the token on a terminal", { skip: skipWithoutTerminal }, async () => {
  await using directory = await makeTemporaryDirectory();
  await using run = new TerminalRun(["token", "create", "desk"], { directory: directory.path }, [80, 24]);
  await waitUntil(() => run.text.includes("code="));
  const token = readFileSync(directory.join(".toolcrib/tokens/desk"), "utf8").trim();
  assert.ok(run.text.includes(`Authorization: Bearer ${token}`), run.text);
  await run.end();
});

test("token list shows tokens without their values, and what is known of each", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: readonly string[]) => runToolcrib(args, setting);
  assert.match((await run("token", "list")).stdout, /^No tokens\. toolcrib token create NAME writes one\.$/m);
  const clients = { ci: { deny: ["files:*"], roles: ["reader"], profile: "dev" }, cli: {} };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [echoServer("files")], profiles: { dev: {} }, policy: { clients } }),
  );
  for (const name of ["ci", "desk", "open"]) assert.equal((await run("token", "create", name)).code, 0);
  chmodSync(directory.join(".toolcrib/tokens/open"), 0o644);
  const { code, stdout, stderr } = await run("token", "list");
  assert.equal(code, 0, stderr);
  const day = new Date().toISOString().slice(0, 4);
  assert.match(stdout, new RegExp(`^ci +${day}\\S+ +never +- +profile dev; roles reader; deny 1$`, "m"));
  assert.match(stdout, /^desk .* all that the policy allows$/m);
  assert.match(stdout, /^open .* nothing: not accepted$/m);
  assert.match(stderr, /warning: open: Cannot trust .*\n {2}fix: chmod 600 /);
  const json = await run("token", "list", "--json");
  const listed = JSON.parse(json.stdout) as readonly { name: string; problem?: { code: string } }[];
  assert.deepEqual(
    listed.map(({ name, problem }) => [name, problem?.code]),
    [
      ["ci", undefined],
      ["desk", undefined],
      ["open", "TOKEN_FILE_EXPOSED"],
    ],
  );
  for (const name of ["ci", "desk", "open"]) {
    const token = readFileSync(directory.join(`.toolcrib/tokens/${name}`), "utf8").trim();
    assert.ok(!`${stdout}${stderr}${json.stdout}${json.stderr}`.includes(token), name);
  }
});

test("token revoke ends what the token opened in a running gateway, and nothing of others", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: readonly string[]) => runToolcrib(args, setting);
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [echoServer("files")], serve: { listen: "127.0.0.1:0" } }),
  );
  for (const name of ["ci", "desk"]) assert.equal((await run("token", "create", name)).code, 0);
  await using gateway = await startServe([], setting);
  const opened = await Promise.all(
    ["ci", "desk"].map(async (name) => {
      const token = readFileSync(directory.join(`.toolcrib/tokens/${name}`), "utf8").trim();
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      };
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
      const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers, body });
      await answer.text();
      const session = { ...headers, "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
      const stream = await fetch(`${gateway.url}/mcp`, { headers: session });
      assert.equal(stream.status, 200, name);
      const state = { isOpen: true };
      const ended = stream.text().catch(() => "");
      void ended.finally(() => {
        state.isOpen = false;
      });
      return { session, state, ended };
    }),
  );
  const [ci, desk] = opened;
  assert.ok(ci !== undefined && desk !== undefined);
  const revoked = await run("token", "revoke", "ci");
  assert.match(revoked.stdout, /^Revoked "ci"\nA running gateway refuses it within a second/);
  await ci.ended;
  assert.equal((await fetch(`${gateway.url}/mcp`, { headers: ci.session })).status, 401);
  assert.ok(desk.state.isOpen);
  assert.equal((await run("token", "revoke", "ci")).code, 4);
  const standing = await run("token", "revoke", "default");
  assert.match(standing.stdout, /The next start of toolcrib serve creates another default token\./);
  assert.equal((await run("token", "revoke", "desk")).code, 0);
  await desk.ended;
});

/** The events about tokens on the trail of a folder, oldest first, without the signed ones of the store. */
async function tokenEvents(directory: string): Promise<readonly string[]> {
  const { stdout } = await runToolcrib(["audit", "tail", "--json"], { directory });
  return (JSON.parse(stdout) as readonly { type: string; data: { name: string; by?: { issuer: string } } }[])
    .filter(({ type }) => type.startsWith("token."))
    .map(({ type, data }) => `${type} ${data.name}${data.by === undefined ? "" : ` by ${data.by.issuer}`}`);
}

test("a token that is created, revoked or replaced is on the audit trail, without the token", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: readonly string[]) => runToolcrib(args, setting);
  const secrets: string[] = [];
  const create = async () => {
    assert.equal((await run("token", "create", "ci")).code, 0);
    secrets.push(readFileSync(directory.join(".toolcrib/tokens/ci"), "utf8").trim());
  };
  await create();
  assert.notEqual((await run("token", "create", "ci")).code, 0);
  assert.equal((await run("token", "revoke", "ci")).code, 0);
  await create();
  {
    // A gateway that runs writes the same trail.
    writeFileSync(
      directory.join("toolcrib.json"),
      JSON.stringify({ tool_servers: [echoServer("files")], serve: { listen: "127.0.0.1:0" } }),
    );
    await using _gateway = await startServe([], setting);
    assert.equal((await run("token", "revoke", "ci")).code, 0);
  }
  assert.deepEqual(await tokenEvents(directory.path), [
    "token.created ci by toolcrib:cli",
    "token.revoked ci by toolcrib:cli",
    "token.created ci by toolcrib:cli",
    "token.revoked ci by toolcrib:cli",
  ]);
  const exported = await run("audit", "export");
  for (const secret of secrets) assert.ok(!exported.stdout.includes(secret));
  const verified = await run("audit", "verify");
  assert.equal(verified.code, 0, verified.stdout);
});

test("a token file that is replaced while a gateway runs is on the audit trail", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [echoServer("files")], serve: { listen: "127.0.0.1:0" } }),
  );
  const run = (...args: readonly string[]) => runToolcrib(args, setting);
  for (const name of ["ci", "desk"]) assert.equal((await run("token", "create", name)).code, 0);
  const path = directory.join(".toolcrib/tokens/ci");
  const before = readFileSync(path, "utf8").trim();
  const after = `tcb_${"another-token-of-the-client".repeat(2)}`;
  {
    await using gateway = await startServe([], setting);
    const statusOf = async (token: string, attempts = 20): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      try {
        const answer = await fetch(`${gateway.url}/api/v1/status`, { headers });
        await answer.text();
        return answer.status;
      } catch (error) {
        if (attempts === 0) throw error;
        // The gateway closes connections whose token it no longer accepts: the next request has a new one.
        return await setTimeout(50).then(() => statusOf(token, attempts - 1));
      }
    };
    assert.equal(await statusOf(before), 200);
    // A file that nobody can trust for a moment is no other token.
    chmodSync(path, 0o644);
    while ((await statusOf(before)) !== 401) await setTimeout(50);
    chmodSync(path, 0o600);
    while ((await statusOf(before)) !== 200) await setTimeout(50);
    writeFileSync(path, `${after}\n`);
    while ((await statusOf(after)) !== 200) await setTimeout(50);
    assert.equal(await statusOf(before), 401);
  }
  assert.deepEqual(await tokenEvents(directory.path), [
    "token.created ci by toolcrib:cli",
    "token.created desk by toolcrib:cli",
    "token.replaced ci",
  ]);
  const exported = await run("audit", "export");
  assert.ok(!exported.stdout.includes(after));
});

test("a token is revoked also where the audit trail cannot be written, and is not created there", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: readonly string[]) => runToolcrib(args, setting);
  assert.equal((await run("token", "create", "ci")).code, 0);
  rmSync(directory.join(".toolcrib/audit"), { recursive: true });
  writeFileSync(directory.join(".toolcrib/audit"), "");
  const revoked = await run("token", "revoke", "ci");
  assert.notEqual(revoked.code, 0);
  assert.match(revoked.stdout, /^Revoked "ci"$/m);
  assert.match(revoked.stderr, /^error STORE_\w+: /m);
  assert.ok(!existsSync(directory.join(".toolcrib/tokens/ci")));
  assert.match((await run("token", "create", "ci")).stderr, /^error STORE_\w+: /m);
  assert.ok(!existsSync(directory.join(".toolcrib/tokens/ci")));
});

test("connect and disconnect record the token that they create and revoke", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path, env: { HOME: directory.path } };
  const run = (...args: readonly string[]) => runToolcrib(args, setting);
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [] }));
  const connected = await run("connect", "cursor", "--yes");
  assert.equal(connected.code, 0, connected.stderr);
  assert.equal((await run("disconnect", "cursor")).code, 0);
  assert.deepEqual(await tokenEvents(directory.path), [
    "token.created cursor by toolcrib:cli",
    "token.revoked cursor by toolcrib:cli",
  ]);
});

test("token create refuses names whose files no gateway reads", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  for (const [name, hint] of [
    ["foo.tmp", "takes files that end with .tmp for unfinished ones"],
    ["env", "env is the client of TOOLCRIB_TOKEN"],
  ] as const) {
    const { code, stderr } = await runToolcrib(["token", "create", name], setting);
    assert.equal(code, 2, stderr);
    assert.match(stderr, new RegExp(`CLI_USAGE: A token cannot be named "${name}"\nhint: .*${hint}`));
    assert.ok(!existsSync(directory.join(`.toolcrib/tokens/${name}`)));
  }
});

test("a link that leads nowhere is a token that is not accepted, and can be revoked", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  assert.equal((await runToolcrib(["token", "create", "ci"], setting)).code, 0);
  symlinkSync(directory.join("nothing"), directory.join(".toolcrib/tokens/lost"));
  const { code, stdout, stderr } = await runToolcrib(["token", "list"], setting);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^ci .* all that the policy allows$/m);
  assert.match(stdout, /^lost .* nothing: not accepted$/m);
  assert.match(stderr, /warning: lost: Cannot use /);
  assert.equal((await runToolcrib(["token", "revoke", "lost"], setting)).code, 0);
  assert.doesNotMatch((await runToolcrib(["token", "list"], setting)).stdout, /lost/);
});

test("token revoke names the other files with the same token", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const fileOf = (name: string) => directory.join(`.toolcrib/tokens/${name}`);
  for (const name of ["ci", "desk"]) await runToolcrib(["token", "create", name], setting);
  copyFileSync(fileOf("ci"), fileOf("copy"));
  const { code, stderr } = await runToolcrib(["token", "revoke", "copy"], setting);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /warning: the same token is stored as "ci", and stays valid under that name/);
  assert.match(stderr, /fix: toolcrib token revoke ci/);
  copyFileSync(fileOf("ci"), fileOf("copy"));
  const { stdout } = await runToolcrib(["token", "revoke", "ci", "--json"], setting);
  assert.deepEqual(JSON.parse(stdout), { revoked: "ci", copies: ["copy"] });
  const alone = await runToolcrib(["token", "revoke", "desk", "--json"], setting);
  assert.deepEqual(JSON.parse(alone.stdout), { revoked: "desk" });
});
