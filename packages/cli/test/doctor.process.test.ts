import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { checkGolden, makeTemporaryDirectory } from "@toolcrib/testing";
import { startLoopbackServer } from "./loopback-server.ts";
import { echoServer, golden, runToolcrib, startServe, transcript } from "./transcript.ts";

test("doctor reports no problems in a valid setup", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  checkGolden(golden("doctor-well.txt"), await transcript([["doctor"]], { directory: directory.path }));
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
  checkGolden(golden("doctor-ill.txt"), text);
});

test("doctor checks the configuration of the running gateway when there is none in the folder", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:0" } };
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
  const [echo, other] = [echoServer("echo"), echoServer("own")] as { id: string; transport: object }[];
  const withOwn = { ...other, transport: { ...other?.transport, env: own } };
  const config = { tool_servers: [echo, withOwn], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const env = { HTTPS_PROXY: "http://user:Sw0rdfish-77@127.0.0.1:9" };
  const { stdout } = await runToolcrib(["doctor"], { directory: directory.path, env });
  assert.match(
    stdout,
    /! environment: HTTPS_PROXY is set here, and not passed on to echo\n {4}fix: add them to/,
  );
  assert.doesNotMatch(stdout, /Sw0rdfish/);
});
