import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { CodedError } from "@toolcrib/diagnostics";
import { Tasks } from "@toolcrib/extensions";
import { checkGolden, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { startLoopbackServer } from "./loopback-server.ts";
import { echoServer, golden, onAnyMachine, runToolcrib, startServe, transcript } from "./transcript.ts";

test("doctor reports no problems in a valid setup", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const text = await transcript([["doctor"]], { directory: directory.path });
  checkGolden(golden("doctor-well.txt"), onAnyMachine(text));
});

test("doctor reports every problem and how to fix it", async () => {
  await using directory = await makeTemporaryDirectory();
  await using taken = await startLoopbackServer();
  const stdio = { kind: "stdio", ...{ command: "toolcrib-test-no-such-command" } };
  const secret = { headers: { Authorization: { secret_key_ref: "absent" } } };
  const config = {
    tool_servers: [
      { id: "command", transport: stdio },
      { id: "secret", transport: { kind: "streamable_http", url: "https://example.test/mcp", ...secret } },
      { id: "dead", transport: { kind: "streamable_http", url: `http://127.0.0.1:${taken.deadPort}/mcp` } },
    ],
    serve: { listen: `127.0.0.1:${taken.port}` },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const home = directory.join(".toolcrib");
  mkdirSync(directory.join(".toolcrib/tokens"), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o777);
  writeFileSync(directory.join(".toolcrib/tokens/default"), `${"t".repeat(40)}\n`, { mode: 0o600 });
  chmodSync(directory.join(".toolcrib/tokens/default"), 0o644);
  writeFileSync(directory.join("bad.yaml"), "tool_server: []\n");
  const text = await transcript(
    [["doctor"], ["doctor", "--config", "bad.yaml", "--home", "new-home", "--json"]],
    {
      directory: directory.path,
    },
  );
  checkGolden(golden("doctor-ill.txt"), onAnyMachine(text));
});

/** A server that starts two seconds later. */
function slowly({ id, transport }: { id: string; transport: { command: string; args: readonly string[] } }) {
  const args = ["-c", 'sleep 2; exec "$0" "$@"', transport.command, ...transport.args];
  return { id, transport: { ...transport, command: "/bin/sh", args } };
}

test("doctor checks the configuration of the running gateway when there is none in the folder", async () => {
  await using directory = await makeTemporaryDirectory();
  // It is still starting when doctor asks for it.
  const { id, transport } = echoServer("echo") as ReturnType<typeof slowly>;
  const server = slowly({ id, transport });
  const config = { tool_servers: [server], serve: { listen: "127.0.0.1:0" } };
  mkdirSync(directory.join("project"));
  writeFileSync(directory.join("project/toolcrib.json"), JSON.stringify(config));
  const home = ["--home", directory.join("home")];
  await using gateway = await startServe(home, { directory: directory.join("project") });
  const { code, stdout } = await runToolcrib(["doctor", ...home], { directory: directory.path });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /configuration: .*project\/toolcrib\.json: 1 tool server/);
  assert.match(stdout, /listens on it|serve picks a free port/);
  assert.match(stdout, /server echo: responds/);
  assert.ok(gateway.pid > 0);
});

test("doctor names variables of the network that servers do not get", async () => {
  await using directory = await makeTemporaryDirectory();
  const own = { HTTPS_PROXY: "http://127.0.0.1:9", NODE_EXTRA_CA_CERTS: "" };
  const withNetwork = (id: string) => ({
    ...(echoServer(id) as { id: string; transport: object }),
    containment: { network_egress: "allow" },
  });
  const [echo, other] = [withNetwork("echo"), withNetwork("own")];
  const withOwn = { ...other, transport: { ...other.transport, env: own } };
  const half = { ...withOwn, id: "half", transport: { ...other.transport, env: { https_proxy: "" } } };
  // Neither needs any: no network, and a network whose proxy sets them.
  const without = { ...echo, id: "without", containment: { network_egress: "deny" } };
  const scoped = { network_egress: "scoped", egress_allow: ["example.com"] };
  const servers = [echo, withOwn, half, without, { ...echo, id: "scoped", containment: scoped }];
  const config = { tool_servers: servers, serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const certificates = directory.join("authorities.pem");
  writeFileSync(certificates, "");
  const env = {
    HTTPS_PROXY: "http://user:Sw0rdfish-77@127.0.0.1:9",
    SSL_CERT_FILE: certificates,
  };
  const { stdout } = await runToolcrib(["doctor"], { directory: directory.path, env });
  assert.match(
    stdout,
    /! environment: SSL_CERT_FILE, HTTPS_PROXY are set here, and not passed on to echo\n {4}fix: add them to/,
  );
  assert.match(stdout, /! environment: SSL_CERT_FILE is set here, and not passed on to own, half\n/);
  assert.doesNotMatch(stdout, /Sw0rdfish/);
});

test("doctor reports a problem of a server once, also while a gateway runs", async () => {
  await using directory = await makeTemporaryDirectory();
  const transport = { kind: "stdio", command: "toolcrib-test-no-such-command" };
  const config = { tool_servers: [{ id: "absent", transport }], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  await using gateway = await startServe([], setting);
  const { code, stdout } = await runToolcrib(["doctor"], setting);
  assert.equal(code, 1, stdout);
  assert.ok(gateway.pid > 0);
  assert.deepEqual(stdout.match(/^.*server absent: .*\n.*$/gm), [
    '✗ server absent: its command "toolcrib-test-no-such-command" is not found, or is not executable\n    fix: install it, use its absolute path, or start Toolcrib with a PATH that contains it',
  ]);
  assert.match(stdout, /^1 problem found/m);
});

test("doctor checks that the commands and scripts of hooks exist", async () => {
  await using directory = await makeTemporaryDirectory();
  const node = process.execPath;
  mkdirSync(directory.join("hooks"));
  writeFileSync(directory.join("hooks/there.mjs"), "");
  const before = [
    { name: "absent", command: "toolcrib-test-no-such-command" },
    { name: "script", command: node, args: ["./gone.mjs"], cwd: "./hooks" },
    { name: "there", command: node, args: ["there.mjs"], cwd: "./hooks" },
    { name: "inline", command: "/bin/sh", args: ["-c", "true"] },
  ];
  const hooks = { before_call: before, after_call: [{ name: "late", command: node, args: ["late.mjs"] }] };
  const config = { tool_servers: [], hooks, serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  // The configuration names the folder of its file, and not that of the terminal.
  mkdirSync(directory.join("elsewhere"));
  const args = ["doctor", "--config", directory.join("toolcrib.json")];
  const { code, stdout } = await runToolcrib(args, { directory: directory.join("elsewhere") });
  assert.equal(code, 1, stdout);
  const found = stdout.match(/^. hook .*/gm)?.map((line) => line.replace(/ \(\/.*?\)/, "").slice(0, 66));
  assert.deepEqual(found, [
    '✗ hook absent (before_call): its command "toolcrib-test-no-such-co',
    '✗ hook script (before_call): its script "./gone.mjs" does not exis',
    `✓ hook there (before_call): starts ${node}`.slice(0, 66),
    "✓ hook inline (before_call): starts /bin/sh",
    '✗ hook late (after_call): its script "late.mjs" does not exist: th',
  ]);
  assert.match(stdout, /fix: correct args or cwd, or write an absolute path/);
});

test("status and doctor report that the changed configuration is not in force", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = directory.join("toolcrib.json");
  const config = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(path, JSON.stringify(config));
  const setting = { directory: directory.path };
  await using _gateway = await startServe([], setting);
  const unchanged = await runToolcrib(["status"], setting);
  assert.doesNotMatch(unchanged.stdout, /changed/);
  writeFileSync(path, JSON.stringify({ ...config, policy: { deny: 5 } }));
  await waitUntil(async () => (await runToolcrib(["status"], setting)).stdout.includes("\nchanged "));
  const [status, json, doctor] = await Promise.all([
    runToolcrib(["status"], setting),
    runToolcrib(["status", "--json"], setting),
    runToolcrib(["doctor"], setting),
  ]);
  assert.match(status.stdout, /^changed .*toolcrib\.json and is not in force: toolcrib reload says why/m);
  assert.deepEqual(JSON.parse(json.stdout).changedConfigFiles, JSON.parse(json.stdout).configFiles);
  assert.match(doctor.stdout + doctor.stderr, /CONFIG_WRONG_TYPE/);
});

test("doctor says what failed after the start of the gateway, and keeps its findings about servers", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const end = Tasks.prototype[Symbol.asyncDispose];
  // Not by a mock of `node:test`, which does not restore a method that has a symbol for its name.
  Tasks.prototype[Symbol.asyncDispose] = async function (this: Tasks) {
    await end.call(this);
    throw new CodedError("STORE_UNWRITABLE", "injected failure of the end", { hint: "free space" });
  };
  const { code, stdout } = await runToolcrib(["doctor"], { directory: directory.path }).finally(() => {
    Tasks.prototype[Symbol.asyncDispose] = end;
  });
  assert.equal(code, 1, stdout);
  assert.match(
    stdout,
    /^✓ server echo: responds: .*\n✗ gateway: injected failure of the end\n {4}fix: free space$/m,
  );
  assert.doesNotMatch(stdout, /cannot start/);
});

test("doctor says that a command line in command belongs into args", async () => {
  await using directory = await makeTemporaryDirectory();
  const transport = { kind: "stdio", command: "npx -y some-server" };
  const config = { tool_servers: [{ id: "line", transport }], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  const hint = 'put the arguments into args: command: npx, args: ["-y", "some-server"]';
  const [doctor, check] = await Promise.all([
    runToolcrib(["doctor"], setting),
    runToolcrib(["config", "check"], setting),
  ]);
  assert.ok(doctor.stdout.includes(`fix: ${hint}`), doctor.stdout);
  assert.ok(`${check.stdout}${check.stderr}`.includes(`hint: ${hint}`), check.stdout);
});

test("doctor reports no failure for a command that only the running gateway finds", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("programs"));
  const [echo] = [echoServer("echo")] as { transport: { command: string } }[];
  writeFileSync(directory.join("programs/own-node"), `#!/bin/sh\nexec '${echo?.transport.command}' "$@"\n`, {
    mode: 0o755,
  });
  const server = { id: "echo", transport: { ...echo?.transport, command: "own-node" } };
  const config = { tool_servers: [server], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  await using gateway = await startServe([], {
    ...setting,
    env: { PATH: `${directory.join("programs")}:/usr/bin:/bin` },
  });
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const { code, stdout } = await runToolcrib(["doctor"], setting);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /! server echo: .*not found.*seen from this terminal/);
  assert.match(stdout, /! server echo: responds/);
});
