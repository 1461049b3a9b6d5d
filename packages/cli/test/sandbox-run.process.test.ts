/** `toolcrib sandbox run` with a scoped network. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { createTestAuthority, makeTemporaryDirectory, startTlsServer } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const skip = process.platform === "linux" ? false : "only Linux has scoped networks";

const host = "api.example.com";

test("a program reaches the hosts of --allow through its own exit, and nothing else", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const authority = createTestAuthority();
  await using server = await startTlsServer({
    certificate: authority.sign({ hosts: [host] }),
    respond(request, response) {
      response.writeHead(200);
      response.end(`answer to ${request.target}`);
    },
  });
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  const egress = {
    connect_to: { [host]: server.endpoint, "other.example.com": server.endpoint },
    internal_ranges: ["127.0.0.0/8"],
    ca_files: ["ca.pem"],
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [], egress }));
  const script = `
    import { connect } from "node:net";
    const [port, ...urls] = process.argv.slice(1);
    for (const url of urls) {
      await fetch(url).then(
        async (response) => console.log(response.status, (await response.text()).slice(0, 60)),
        (error) => console.log("failed", error.cause?.code ?? error.message),
      );
    }
    connect(Number(port), "127.0.0.1").on("error", ({ code }) => console.log("failed", code));`;
  const port = server.endpoint.split(":").at(-1) ?? "";
  const urls = [`https://${host}/a?b=c`, "https://other.example.com/"];
  const { code, stdout, stderr } = await runToolcrib(
    [
      ...["sandbox", "run", "--config", "toolcrib.json", "--network", "scoped", "--allow", host, "--"],
      ...[process.execPath, "--use-env-proxy", "--input-type=module", "-e", script, port, ...urls],
    ],
    { directory: directory.path },
  );
  assert.equal(code, 0, stderr);
  const [allowed, refused, direct] = stdout.split("\n");
  assert.equal(allowed, "200 answer to /a?b=c");
  assert.match(refused ?? "", /^failed/);
  assert.equal(direct, "failed ECONNREFUSED");
  assert.equal(server.requests.length, 1);
});

test("hosts are checked before anything starts", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = async (...flags: readonly string[]) => {
    const { code, stderr } = await runToolcrib(["sandbox", "run", ...flags, "--", "true"], {
      directory: directory.path,
    });
    assert.notEqual(code, 0);
    return stderr;
  };
  assert.match(await run("--network", "scoped"), /--network scoped has no host/);
  assert.match(await run("--allow", host), /--allow needs --network scoped/);
  assert.match(await run("--network", "all"), /--network must be deny, scoped or allow/);
  for (const bad of [
    "https://api.example.com",
    "api.example.com:0",
    "a b",
    "*.com:x",
    "api.example.com:1:2",
  ]) {
    assert.match(await run("--network", "scoped", "--allow", bad), /is no host: /, bad);
  }
});
