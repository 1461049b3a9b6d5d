/** Servers that a manifest adopts: fetched from a registry, run contained, called by a client, and what they never get. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { acmeManifest, type NpmRegistry, startAcmeRegistry, waitUntil } from "@toolcrib/testing";
import { acmeServer, registryEnvironment, skipsAdopted } from "./adopted-harness.ts";
import { dataOf, somebody, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";
import { canary, startTestApi, type TestApi } from "./toolspec-harness.ts";

describe("a server that a manifest adopts", { skip: skipsAdopted }, () => {
  let registry: NpmRegistry;
  let api: TestApi;
  before(async () => {
    registry = await startAcmeRegistry();
    api = await startTestApi(({ headers, body }, response) => {
      response.end(JSON.stringify({ headers, body: String(body) }));
    });
  });
  after(async () => {
    await api[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  });

  const start = (
    server: JsonObject,
    manifest: string,
    more: Parameters<typeof startTestGateway>[1] & { readonly document?: JsonObject } = {},
  ): Promise<TestGateway> => {
    const { document = {}, files = {}, ...options } = more;
    return startTestGateway(
      { egress: api.egress, tool_servers: [server], ...document },
      {
        environment: registryEnvironment(registry),
        secrets: { "acme-token": canary },
        files: { "acme.yaml": manifest, ...files },
        ...options,
      },
    );
  };
  const statusOf = ({ gateway }: TestGateway) => gateway.status().servers[0] ?? assert.fail();

  it("is fetched and called by an SDK client; its tools are those that the manifest names", async () => {
    await using test = await start(acmeServer(), acmeManifest());
    const { health, manifest, tools, containment, hosts } = statusOf(test);
    assert.equal(health.state, "ready", health.reason ?? "");
    assert.deepEqual(manifest, {
      name: "acme",
      version: "0.1.0",
      package: "npm @acme/server 1.2.3",
      missingTools: ["gone"],
      undeclaredTools: ["surprise"],
    });
    assert.equal(tools, 2);
    assert.deepEqual(hosts, ["api.acme.example"]);
    assert.equal(containment?.networkEgress, "scoped");
    assert.equal(containment?.filesystemWrite, "deny");
    const client = await test.connect();
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => name.startsWith("acme__")),
      ["acme__whoami", "acme__get"],
    );
    const { content } = await client.callTool({ name: "acme__whoami", arguments: {} });
    const [{ text = "" } = {}] = content as { text?: string }[];
    const { environ, argv } = JSON.parse(text) as { environ: string; argv: string[] };
    assert.deepEqual(argv, ["--fixed", "--own"]);
    assert.equal(environ.includes(canary), false);
    assert.match(environ, /ACME_TOKEN=toolcrib-ph-[0-9a-f]{32}/);
    // Neither a tool that is not enabled nor one that the manifest does not name can be called.
    for (const name of ["remove", "surprise"]) {
      const refused = await client.callTool({ name: `acme__${name}`, arguments: {} }).catch(String);
      assert.match(JSON.stringify(refused), /not enabled|No tool|not found|Unknown/i);
    }
    const warned = test.logger.records.filter(({ message }) => /differ in their tools/.test(message));
    assert.equal(warned.length, 1);
  });

  it("gets a placeholder, which becomes the secret for the hosts of the manifest alone", async () => {
    await using test = await start(acmeServer(), acmeManifest());
    const call = async (args: JsonObject): Promise<string> => {
      const outcome = await test.gateway.call(somebody, "acme:get", args);
      return outcome.kind === "result" ? textOf(outcome.result) : JSON.stringify(outcome);
    };
    const sent = await call({ url: "https://api.acme.example/me" });
    assert.match(sent, /^200 /);
    assert.equal(api.headersNamed("authorization").at(-1), `Bearer ${canary}`);
    // The API answers with the secret that it got; the process gets the placeholder back.
    assert.equal(sent.includes(canary), false);
    const { length } = api.server.requests;
    assert.match(await call({ url: "https://api.beta.example/me" }), /failed|403/);
    assert.match(await call({ url: "https://api.acme.example/me", body: true }), /403|failed/);
    assert.equal(api.server.requests.length, length);
    await test.stop();
    const records = test.audit();
    const used = dataOf(records, "secret.used");
    for (const { server, host, secret } of used) {
      assert.deepEqual([server, host, secret], ["acme", "api.acme.example", "acme-token"]);
    }
    assert.notEqual(used.length, 0);
    assert.equal(JSON.stringify(records).includes(canary), false);
    assert.ok(dataOf(records, "egress.alarm").some(({ where }) => where === "body"));
  });

  it("gets an entrusted secret by its variable", async () => {
    const manifest = acmeManifest({
      tier: "entrusted",
      credentials: "[{ id: token, type: custom_env, inject: { env: ACME_KEY } }]",
      entitlements: "{ egress: [] }",
    });
    await using test = await start(acmeServer(), manifest);
    assert.equal(statusOf(test).containment?.networkEgress, "deny");
    const outcome = await test.gateway.call(somebody, "acme:whoami", {});
    // The result is scrubbed of the secret that the process has.
    assert.ok(outcome.kind === "result");
    const text = textOf(outcome.result);
    assert.match(text, /ACME_KEY=/);
    assert.equal(text.includes(canary), false);
  });

  it("does not start while a sealed secret is missing, and says which", async () => {
    await using test = await start(acmeServer(), acmeManifest(), { secrets: {} });
    const { health } = statusOf(test);
    assert.equal(health.state, "unavailable");
    assert.match(health.reason ?? "", /acme-token/);
  });

  it("is installed by its lock, whatever the registry has by then; a changed package is refused", async () => {
    await using first = await start(acmeServer(), acmeManifest());
    const folder = join(first.home, "fetched");
    const [name = ""] = keysIn(folder);
    const text = readFileSync(join(folder, name, "v1", "package-lock.json"), "utf8");
    const lock = text.replace(/^\s*"resolved": .*\n/gm, "");
    const digest = createHash("sha256").update(lock).digest("hex");
    const image = `{ ref: localhost/acme, digest: "sha256:${digest}", entrypoint: /app/acme-server, builder: node }`;
    registry.publish({ name: "@acme/words", version: "1.9.0" }, { "index.js": "module.exports = 2;" });
    const files = { "acme.lock.json": lock };
    await using test = await start(acmeServer(), acmeManifest({ image }), { files });
    assert.equal(statusOf(test).health.state, "ready", statusOf(test).health.reason ?? "");
    const [stored = ""] = keysIn(join(test.home, "fetched"));
    const receipt = JSON.parse(readFileSync(join(test.home, "fetched", stored, "receipt.json"), "utf8"));
    assert.equal(receipt.recorded, digest);
    assert.deepEqual(
      receipt.locked.map(({ name: one, version }: { name: string; version: string }) => `${one} ${version}`),
      ["@acme/server 1.2.3", "@acme/words 1.0.0"],
    );
    // Another lock than the recorded one is an error of the configuration.
    await assert.rejects(
      start(acmeServer(), acmeManifest({ image }), { files: { "acme.lock.json": `${lock} ` } }),
      /the lock of the manifest has sha256:/,
    );
    // A registry that has another package under the same version is refused.
    const forged = lock.replace(
      /"integrity": "sha512-[^"]+"/,
      `"integrity": "sha512-${Buffer.alloc(64).toString("base64")}"`,
    );
    const forgedDigest = createHash("sha256").update(forged).digest("hex");
    await using refused = await start(
      acmeServer(),
      acmeManifest({ image: image.replace(digest, forgedDigest) }),
      {
        files: { "acme.lock.json": forged },
        isAwaited: false,
      },
    );
    await waitUntil(() => /integrity|EINTEGRITY/i.test(statusOf(refused).health.reason ?? ""), {
      timeoutMs: 60_000,
    });
  });

  it("never runs the program of a project in its place, and no other program of the package", async () => {
    const files = { "node_modules/.bin/acme-server": "#!/bin/sh\nexit 9\n" };
    await using test = await start(acmeServer(), acmeManifest(), { files });
    assert.equal(statusOf(test).health.state, "ready", statusOf(test).health.reason ?? "");
  });

  it("the manifest alone decides what the network is", async () => {
    for (const containment of [
      { network_egress: "allow" },
      { network_egress: "scoped", egress_allow: ["evil.example"] },
    ]) {
      await assert.rejects(
        start(acmeServer({ containment }), acmeManifest()),
        /The manifest decides which hosts/,
      );
    }
    await using test = await start(acmeServer({ containment: { network_egress: "deny" } }), acmeManifest());
    const outcome = await test.gateway.call(somebody, "acme:get", { url: "https://api.acme.example/" });
    assert.match(outcome.kind === "result" ? textOf(outcome.result) : "", /failed/);
  });
});

describe("an entry with a manifest", () => {
  const refused = async (manifest: string, server: JsonObject): Promise<string> => {
    const test = startTestGateway(
      { tool_servers: [server] },
      { files: { "acme.yaml": manifest }, isAwaited: false },
    );
    return await test.then(
      async (gateway) => {
        await gateway[Symbol.asyncDispose]();
        return "accepted";
      },
      (error: Error) => error.message,
    );
  };

  it("is refused with the reason where the two do not match", async () => {
    const image = (builder: string, entrypoint = "/app/x") =>
      `{ ref: x, digest: "sha256:${"0".repeat(64)}", entrypoint: ${entrypoint}, builder: ${builder} }`;
    const cases: readonly (readonly [manifest: string, server: JsonObject, expected: RegExp])[] = [
      [acmeManifest(), acmeServer({ credentials: {} }), /needs a secret for "token"/],
      [
        acmeManifest(),
        acmeServer({ credentials: { tokn: { secret_key_ref: "x" } } }),
        /has no credential "tokn"/,
      ],
      [acmeManifest(), acmeServer({ tools: ["whoam"] }), /has no tool "whoam"/],
      [acmeManifest({ image: image("toolpack") }), acmeServer(), /needs a toolspec and adopts no server/],
      [acmeManifest({ image: image("go-static") }), acmeServer(), /names no package for builder: go-static/],
      [acmeManifest({ source: "{ repo: npm:@acme/server, tag: latest }" }), acmeServer(), /no exact version/],
      [acmeManifest({ source: "{ repo: 'npm:../x', tag: 1.0.0 }" }), acmeServer(), /names no package/],
      [acmeManifest({ image: image("node", "/") }), acmeServer(), /names no program/],
      [
        acmeManifest({ image: image("node").replaceAll("0000", "1111") }),
        acmeServer(),
        /the manifest has none/,
      ],
      [acmeManifest(), acmeServer({ transport: { kind: "stdio", manifest: "./none.yaml" } }), /Cannot read/],
      [
        acmeManifest(),
        acmeServer({ transport: { kind: "stdio", manifest: "./acme.yaml", command: "x" } }),
        /both command and manifest/,
      ],
      [
        acmeManifest(),
        { id: "a", transport: { kind: "stdio", command: "x" }, tools: "all" },
        /belongs to a server with transport.manifest/,
      ],
      [
        acmeManifest({
          tier: "sealed",
          credentials:
            '[{ id: a, type: api_key, inject: { header: X-A, format: "{token}" } }, { id: b, type: api_key, inject: { header: X-B, format: "{token}" } }]',
        }),
        acmeServer({ credentials: { a: { secret_key_ref: "a" }, b: { secret_key_ref: "b" } } }),
        /several sealed credentials in one variable/,
      ],
    ];
    for (const [manifest, server, expected] of cases) assert.match(await refused(manifest, server), expected);
  });

  it("without its files reads no manifest, and the server does not start", async () => {
    await using test = await startTestGateway({ tool_servers: [acmeServer()] });
    assert.match(test.gateway.status().servers[0]?.health.reason ?? "", /manifest .* was not read/);
  });
});

/** The folders of fetched packages, without the lock beside them. */
function keysIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => !name.startsWith("."));
}
