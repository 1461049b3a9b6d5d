/**
 * Packages and bundles of toolpacks, and the files that describe what was built: judged by the official tool of bundles,
 * by the schema of CycloneDX, by the commands for packages, and by starting the servers in them.
 */

import assert from "node:assert/strict";
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, verify } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createEgress, createPlaceholder } from "@toolcrib/egress";
import { parseHostPattern } from "@toolcrib/hosts";
import { readArchive } from "@toolcrib/mcpkg";
import { createTestAuthority, makeTemporaryDirectory, runProcess, startTlsServer } from "@toolcrib/testing";
import { runToolcrib } from "../transcript.ts";
import { build, writeCatalog } from "./toolpack-images.ts";

const mcpb = fileURLToPath(new URL("cli/cli.js", import.meta.resolve("@anthropic-ai/mcpb")));
const home = await makeTemporaryDirectory();
after(() => home[Symbol.asyncDispose]());
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const variables = `variables: {tenant: {description: Your site}}\n`;

before(async () => {
  writeFileSync(home.join("key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  const env = writeCatalog(home.path, "alpha", "beta");
  const toolspec = home.join("catalog/toolspecs/beta/0.1.0.yaml");
  const text = readFileSync(toolspec, "utf8")
    .replace("schemaVersion: 1", "schemaVersion: 2")
    .replace("https://api.beta.example", "https://{tenant}.beta.example")
    .replace("tools:\n", `${variables}tools:\n`);
  writeFileSync(toolspec, text);
  const formats = ["--format", "mcpb", "--format", "mcpkg", "--key", "key.pem"];
  await build(home.path, ["alpha", "--out", "one", ...formats], env);
  await build(
    home.path,
    ["alpha", "beta", "--out", "two", ...formats, "--variable", "beta/tenant=acme"],
    env,
  );
});

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("a bundle is valid for the official tool, and starts as it says", async () => {
  for (const [bundle, prefixes] of [
    ["one/alpha-0.1.0.mcpb", [""]],
    ["two/alpha-beta-0.1.0.mcpb", ["alpha__", "beta__"]],
  ] as const) {
    await using folder = await makeTemporaryDirectory();
    const unpacked = await runProcess(process.execPath, [mcpb, "unpack", home.join(bundle), folder.path]);
    assert.equal(unpacked.code, 0, unpacked.stderr);
    const validated = await runProcess(process.execPath, [mcpb, "validate", folder.join("manifest.json")]);
    assert.match(validated.stdout, /Manifest schema validation passes!/);
    const manifest = JSON.parse(readFileSync(folder.join("manifest.json"), "utf8")) as {
      readonly server: {
        readonly mcp_config: { readonly args: string[]; readonly env: { readonly [name: string]: string } };
      };
      readonly tools: readonly { readonly name: string }[];
      readonly user_config: { readonly [key: string]: { readonly sensitive?: boolean } };
    };
    // As a client does it.
    const complete = (text: string) =>
      text.replace(/\$\{__dirname\}/, folder.path).replace(/\$\{user_config\.(\w+)\}/, (_, key: string) => {
        assert(Object.hasOwn(manifest.user_config, key), key);
        return `value-of-${key}`;
      });
    const { args, env } = manifest.server.mcp_config;
    const client = new Client({ name: "bundle-test", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: args.map(complete),
        env: {
          HOME: folder.path,
          ...Object.fromEntries(Object.entries(env).map(([name, text]) => [name, complete(text)])),
        },
      }),
    );
    try {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      assert.deepEqual(
        names,
        prefixes.flatMap((one) => ["list_repos", "get_repo", "add_repo"].map((tool) => `${one}${tool}`)),
      );
      assert.deepEqual(
        manifest.tools.map(({ name }) => name),
        names,
      );
    } finally {
      await client.close();
    }
    assert(Object.values(manifest.user_config).every(({ sensitive }) => sensitive === true));
  }
});

test("each tool is a valid, signed package: a request where packages can express it, otherwise with the engine", async () => {
  const folder = home.join("two/packages");
  const names = [
    "alpha.add_repo",
    "alpha.get_repo",
    "alpha.list_repos",
    "beta.add_repo",
    "beta.get_repo",
    "beta.list_repos",
  ];
  assert.deepEqual(
    readdirSync(folder).toSorted(),
    names.map((name) => `${name}-0.1.0.mcpkg`),
  );
  await Promise.all(
    readdirSync(folder).map(async (name) => {
      const { code, stdout, stderr } = await runToolcrib(["verify", join(folder, name)], {
        directory: home.path,
      });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /is signed by sha256:[0-9a-f]{64}/);
    }),
  );
  const manifestOf = async (name: string) => {
    const files = await readArchive(readFileSync(join(folder, `${name}-0.1.0.mcpkg`)));
    return {
      files,
      json: JSON.parse(Buffer.from(files.get("manifest.json")?.bytes ?? []).toString()) as {
        [key: string]: unknown;
      },
    };
  };
  const { json: request, files: few } = await manifestOf("alpha.list_repos");
  assert.deepEqual(request["endpoint"], {
    type: "http",
    method: "GET",
    url: "https://api.alpha.example/owners/{owner}/repos",
    timeoutMs: 30_000,
  });
  assert.deepEqual(request["auth"], { type: "bearer", configHints: { env: "TOOLCRIB_SECRET_ALPHA_TOKEN" } });
  assert.deepEqual([...few.keys()].toSorted(), ["manifest.json", "meta/signature.sig"]);
  const { json: program } = await manifestOf("beta.get_repo");
  assert.deepEqual(program["endpoint"], {
    type: "local",
    command:
      "node engine.mjs --manifest manifest.yaml --toolspec toolspec.yaml --variable tenant=acme --call get_repo",
    stdin: true,
    timeoutMs: 30_000,
  });
});

test("the program of a package answers one call behind an egress proxy, and fails where the tool does", async () => {
  const authority = createTestAuthority();
  await using service = await startTlsServer({
    certificate: authority.sign({ hosts: ["acme.beta.example"] }),
    respond({ target }, response) {
      response.writeHead(target === "/repos/none" ? 404 : 200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ target }));
    },
  });
  await using egress = createEgress(
    {
      connectTo: { "acme.beta.example": service.endpoint },
      internalRanges: ["127.0.0.0/8"],
      caCertificates: [authority.certificate],
    },
    { directory: home.join("egress"), now: Date.now, randomBytes, onEvent() {} },
  );
  const host = parseHostPattern("*.beta.example");
  assert(host.kind === "valid");
  const placeholder = createPlaceholder(randomBytes);
  const place = { kind: "header", name: "Authorization", format: "Bearer {token}" } as const;
  await using proxy = await egress.openProxy({
    id: "process:package",
    allow: [host.value],
    credentials: [
      { id: "token", place, placeholder, secretName: "beta-token", read: () => "hunter2hunter2" },
    ],
  });
  const folder = home.join("unpacked");
  mkdirSync(folder);
  for (const [path, { bytes }] of await readArchive(
    readFileSync(home.join("two/packages/beta.get_repo-0.1.0.mcpkg")),
  )) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  const { endpoint } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as {
    endpoint: { command: string };
  };
  const call = (input: string) =>
    runProcess(process.execPath, endpoint.command.split(" ").slice(1), {
      cwd: folder,
      stdin: input,
      env: {
        HTTPS_PROXY: proxy.url,
        NODE_EXTRA_CA_CERTS: proxy.caFile,
        TOOLCRIB_CREDENTIAL_TOKEN: placeholder,
        HOME: folder,
      },
    });
  const [found, missing, wrong, unreadable] = await Promise.all(
    ['{"id":"7"}', '{"id":"none"}', "{}", "7"].map(call),
  );
  assert.deepEqual([found?.stdout, found?.stderr, found?.code], ['{"target":"/repos/7"}\n', "", 0]);
  assert.deepEqual([missing?.stdout, missing?.code], ["", 1]);
  assert.match(missing?.stderr ?? "", /^HTTP 404 Not Found: /);
  assert.match(wrong?.stderr ?? "", /^Parameter "id" of tool "get_repo" is required/);
  assert.match(unreadable?.stderr ?? "", /CLI_ARGUMENTS_INVALID: The input is not a JSON object/);
  assert.equal(unreadable?.code, 2);
  const sent = service.requests.map(
    ({ headers }) => headers.find(([name]) => name.toLowerCase() === "authorization")?.[1],
  );
  assert.deepEqual(sent, ["Bearer hunter2hunter2", "Bearer hunter2hunter2"]);
});

test("the bill of materials is valid CycloneDX 1.6, and names what the engine contains", async () => {
  const text = readFileSync(home.join("one/sbom.cdx.json"), "utf8");
  const problem = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
  assert.equal(problem, null);
  const bill = JSON.parse(text) as {
    components: readonly { name: string; version: string; licenses?: unknown }[];
  };
  const names = bill.components.map(({ name }) => name);
  for (const name of ["toolcrib-toolpack", "manifest of alpha", "toolspec of alpha", "undici", "yaml", "ajv"])
    assert(names.includes(name), name);
  const { version } = JSON.parse(
    readFileSync(fileURLToPath(import.meta.resolve("yaml/package.json")), "utf8"),
  ) as { version: string };
  assert.equal(bill.components.find(({ name }) => name === "yaml")?.version, version);
});

test("the provenance names every result with its digest, and is signed", () => {
  const text = readFileSync(home.join("one/provenance.json"), "utf8");
  const statement = JSON.parse(text) as {
    readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
    readonly predicateType: string;
    readonly predicate: {
      readonly buildDefinition: { readonly resolvedDependencies: readonly { name: string }[] };
    };
  };
  assert.equal(statement.predicateType, "https://slsa.dev/provenance/v1");
  assert.equal(statement.subject.length, 5);
  for (const { name, digest } of statement.subject)
    assert.equal(sha256(readFileSync(home.join("one", name))), digest.sha256, name);
  assert.deepEqual(
    statement.predicate.buildDefinition.resolvedDependencies.map(({ name }) => name),
    ["engine", "manifest of alpha", "toolspec of alpha"],
  );
  const { payload, payloadType, signatures } = JSON.parse(
    readFileSync(home.join("one/provenance.dsse.json"), "utf8"),
  ) as {
    readonly payload: string;
    readonly payloadType: string;
    readonly signatures: readonly { readonly sig: string }[];
  };
  const bytes = Buffer.from(payload, "base64");
  assert.equal(`${bytes}\n`, text);
  // The pre-authentication encoding of DSSE.
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `),
    bytes,
  ]);
  const signature = Buffer.from(signatures[0]?.sig ?? "", "base64");
  assert(verify(null, signed, createPublicKey(publicKey.export({ type: "spki", format: "pem" })), signature));
});

test("a build and its parts are verified against the key of their builder; a change of any file is found", async () => {
  await using folder = await makeTemporaryDirectory();
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const other = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" });
  writeFileSync(folder.join("builder.pem"), pem);
  writeFileSync(folder.join("other.pem"), other);
  cpSync(home.join("one"), folder.join("one"), { recursive: true });
  const check = async (args: readonly string[], code: number, expected: RegExp) => {
    const outcome = await runToolcrib(["toolpack", "verify", ...args], { directory: folder.path });
    assert.equal(outcome.code, code, outcome.stdout + outcome.stderr);
    assert.match(outcome.stdout + outcome.stderr, expected);
  };
  const key = ["--key", "builder.pem"];
  await check(["one", ...key], 0, /is exactly what the provenance names, which sha256:[0-9a-f]{64} signed/);
  await check(["one/alpha-0.1.0.mcpb", ...key], 0, /is exactly what/);
  await check(["one/packages/alpha.get_repo-0.1.0.mcpkg", ...key], 0, /is exactly what/);
  await check(["one", "--key", "other.pem"], 1, /it is by the key sha256:.*, and not by sha256:/);
  await check(["one"], 1, /There is no key to verify with: this home has no publisher key/);
  await check(["builder.pem", ...key], 1, /There is no signed provenance/);
  await check(["builder.pem", ...key, "--provenance", "one/provenance.dsse.json"], 1, /is not among what/);
  const change = async (name: string, bytes: Uint8Array | undefined, expected: RegExp) => {
    const path = folder.join("one", name);
    const before = existsSync(path) ? readFileSync(path) : undefined;
    if (bytes === undefined) rmSync(path);
    else writeFileSync(path, bytes);
    await check(["one", ...key], 1, expected);
    if (before === undefined) rmSync(path);
    else writeFileSync(path, before);
  };
  await change(
    "sbom.cdx.json",
    Buffer.from("{}"),
    /"sbom\.cdx\.json" is sha256:.*, and the provenance says sha256:/,
  );
  await change("alpha-0.1.0.mcpb", undefined, /"alpha-0\.1\.0\.mcpb" is missing/);
  await change("packages/more", Buffer.from(""), /"packages\/more" is not among what the provenance names/);
  // A link has the right content on this machine only.
  const linked = async (name: string) => {
    const path = folder.join("one", name);
    renameSync(path, folder.join("moved"));
    symlinkSync(folder.join("moved"), path);
    await check(["one", ...key], 1, /Cannot read .*: it is a symbolic link|There is no signed provenance/);
    rmSync(path);
    renameSync(folder.join("moved"), path);
  };
  await linked("sbom.cdx.json");
  await linked("provenance.dsse.json");
  await linked("packages");
  await change("provenance.json", Buffer.from("{}"), /"provenance\.json" is not what was signed/);
  const envelope = readFileSync(folder.join("one/provenance.dsse.json"), "utf8");
  const { payload } = JSON.parse(envelope) as { payload: string };
  const forged = Buffer.from(Buffer.from(payload, "base64").toString().replace("alpha@", "evil@")).toString(
    "base64",
  );
  const bytes = Buffer.from(envelope.replace(payload, forged));
  await change("provenance.dsse.json", bytes, /it was changed after it was signed/);
});
