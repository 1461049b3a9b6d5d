/** `toolcrib doctor --online`: remote servers, their certificates and logins, pinned packages, and anchors, on loopback. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  createTestAuthority,
  freePort,
  makeTemporaryDirectory,
  NpmRegistry,
  startEchoHttpServer,
  startEchoSseServer,
  startIdentityProvider,
  startProtectedServer,
  startTlsServer,
  type TemporaryDirectory,
} from "@toolcrib/testing";
import { skipWithoutNpxAndSandbox } from "./skip-without-sandbox.ts";
import { runToolcrib } from "./transcript.ts";

const path = process.env["PATH"] ?? "";
const noPackages = await skipWithoutNpxAndSandbox();

interface Shown {
  readonly group: string;
  readonly status: string;
  readonly subject: string;
  readonly message: string;
  readonly fix?: string;
}

/** Runs the command. @returns the findings of the network as `status subject: message` */
async function online(
  directory: TemporaryDirectory,
  config: object,
  env: { readonly [name: string]: string } = {},
): Promise<readonly Shown[]> {
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ ...config, serve: { listen: "127.0.0.1:0" } }),
  );
  const { stdout, stderr } = await runToolcrib(["doctor", "--online", "--json"], {
    directory: directory.path,
    timeoutMs: 120_000,
    env,
  });
  assert.notEqual(stdout, "", stderr);
  const { findings } = JSON.parse(stdout) as { findings: readonly Shown[] };
  return findings.filter(({ group }) => group === "Network");
}

function lines(findings: readonly Shown[]): readonly string[] {
  return findings.map(({ status, subject, message }) => `${status} ${subject}: ${message}`);
}

const at = (id: string, url: string, more: object = {}, kind = "streamable_http") => ({
  id,
  transport: { kind, url, ...more },
});

async function listen(respond: RequestListener) {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("doctor --online says how each remote server answers", async () => {
  await using directory = await makeTemporaryDirectory();
  await using echo = await startEchoHttpServer();
  await using sse = await startEchoSseServer();
  await using other = await listen((request, response) => {
    if (request.url === "/large") response.end("x".repeat(600_000));
    else if (request.url === "/basic")
      response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    else
      response.writeHead(request.url === "/broken" ? 503 : 200, { "content-type": "text/html" }).end("<p>");
  });
  const dead = `127.0.0.1:${await freePort()}`;
  const headers = { headers: { Authorization: { secret_key_ref: { env: "TOKEN" } } } };
  const found = await online(
    directory,
    {
      tool_servers: [
        at("echo", echo.url),
        at("old", sse.url, {}, "sse"),
        at("dead", `http://${dead}/mcp`),
        at("page", `${other.origin}/page`),
        at("broken", `${other.origin}/broken`),
        at("large", `${other.origin}/large`),
        at("basic", `${other.origin}/basic`),
        at("own", `${other.origin}/basic`, headers),
        at("custom", `${other.origin}/basic`, {
          headers: { "X-Login": { secret_key_ref: { env: "TOKEN" } } },
        }),
        at("plain", `${other.origin}/basic`, { headers: { "X-Team": "blue" } }),
      ],
    },
    { TOKEN: "Sw0rdfish-77" },
  );
  const all = lines(found);
  assert.deepEqual(
    all.map((line) => line.replace(/ \(.*/, "")),
    [
      "ok server echo: answers HTTP 200, in MCP",
      "ok server old: answers HTTP 200, in MCP",
      `failed server dead: nothing listens at ${dead}: the connection was refused`,
      "failed server page: answers HTTP 200, but not in MCP",
      "failed server broken: answers HTTP 503: it has a problem of its own",
      `failed server large: The response of ${other.origin}/large is larger than 524288 bytes`,
      "failed server basic: answers HTTP 401: it wants a login by Basic, and its entry has none",
      "ok server own: answers HTTP 401 without credentials: it wants a login by Basic, which is configured",
      "ok server custom: answers HTTP 401 without credentials: it wants a login by Basic, which is configured",
      "failed server plain: answers HTTP 401: it wants a login by Basic, and its entry has none",
    ],
  );
  assert.match(found.find(({ subject }) => subject === "server page")?.fix ?? "", /URL of its MCP endpoint/);
  assert.doesNotMatch(JSON.stringify(found), /Sw0rdfish/);
});

test("doctor --online does not ask a server whose URL is a secret", async () => {
  await using directory = await makeTemporaryDirectory();
  const asked: string[] = [];
  await using server = await listen((request, response) => {
    request.on("data", (piece: Buffer) => asked.push(String(piece)));
    request.on("end", () => response.writeHead(401).end());
  });
  const url = `${server.origin}/mcp/s3cret-path-token`;
  const transport = { kind: "streamable_http", url: { secret_key_ref: { env: "SERVER_URL" } } };
  const config = { tool_servers: [{ id: "own", transport }] };
  const found = await online(directory, config, { SERVER_URL: url });
  assert.deepEqual(lines(found), ["warning server own: was not asked: its URL is a secret"]);
  assert.ok(!asked.some((body) => body.includes("toolcrib-doctor")), asked.join());
});

test("doctor --online asks a limited number of servers, for a limited number of bytes together", async () => {
  await using directory = await makeTemporaryDirectory();
  const body = "x".repeat(300_000);
  let asked = 0;
  await using page = await listen((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      const isOurs = text.includes("toolcrib-doctor");
      asked += isOurs ? 1 : 0;
      response.writeHead(200, { "content-type": "text/html" }).end(isOurs ? body : "");
    });
  });
  const servers = Array.from({ length: 102 }, (_, index) => at(`s${index}`, `${page.origin}/s${index}`));
  const all = lines(await online(directory, { tool_servers: servers }));
  assert.equal(all.length, 101);
  assert.match(all.at(-1) ?? "", /^unknown online: 2 subjects more were not asked, from server s100 on: /);
  assert.equal(all[0], "failed server s0: answers HTTP 200, but not in MCP");
  assert.equal(all[99], "unknown server s99: was not asked to the end: all responses together have 16 MiB");
  assert.ok(asked >= 56 && asked <= 60, `${asked} were asked`);
});

test("doctor --online also counts the bytes of redirects and of answers that are too long", async () => {
  for (const status of [200, 307]) {
    await using directory = await makeTemporaryDirectory();
    const body = "x".repeat(status === 200 ? 600_000 : 500_000);
    await using page = await listen((request, response) => {
      request.resume();
      request.on("end", () => response.writeHead(status, { location: "/elsewhere" }).end(body));
    });
    const servers = Array.from({ length: 50 }, (_, index) => at(`s${index}`, `${page.origin}/s${index}`));
    const all = lines(await online(directory, { tool_servers: servers }));
    assert.equal(all[49], "unknown server s49: was not asked to the end: all responses together have 16 MiB");
  }
});

test("doctor --online says when a certificate ends, and that one has expired", async () => {
  await using directory = await makeTemporaryDirectory();
  const authority = createTestAuthority();
  writeFileSync(directory.join("ca.pem"), authority.certificate);
  const day = 86_400_000;
  const start = (validMs: number) =>
    startTlsServer({
      certificate: authority.sign({ hosts: ["localhost"], validMs }),
      respond: (_request, response) =>
        response
          .writeHead(200, { "content-type": "application/json" })
          .end('{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}'),
    });
  await using long = await start(100 * day);
  await using soon = await start(5.5 * day);
  await using over = await start(-day / 2);
  const url = ({ port }: { port: number }) => `https://localhost:${port}/mcp`;
  const found = await online(directory, {
    tool_servers: [
      at("long", url(long), { ca_file: "./ca.pem" }),
      at("soon", url(soon), { ca_file: "./ca.pem" }),
      at("over", url(over), { ca_file: "./ca.pem" }),
      at("unknown", url(long)),
    ],
  });
  assert.deepEqual(
    lines(found).map((line) => line.replace(/\d{4}-\d\d-\d\d/, "DAY").replace(/ \(\w+\)$/, "")),
    [
      "ok server long: answers HTTP 200, in MCP",
      "ok server long: its certificate ends on DAY",
      "ok server soon: answers HTTP 200, in MCP",
      "warning server soon: its certificate ends on DAY, in 5 days",
      "failed server over: the certificate of the server has expired",
      "failed server unknown: this machine does not trust the certificate of localhost",
    ],
  );
});

test("doctor --online finds the login that a server wants, and asks its token endpoint", async () => {
  await using directory = await makeTemporaryDirectory();
  await using provider = await startIdentityProvider();
  const startServer = (authorizationServer: string) =>
    startProtectedServer({ check: () => undefined, authorizationServers: [authorizationServer] });
  await using good = await startServer(provider.issuer);
  await using inside = await startServer("https://10.1.2.3");
  await using gone = await startServer(`http://127.0.0.1:${await freePort()}`);
  const auth = { auth: { type: "oauth" } };
  const found = await online(directory, {
    tool_servers: [
      at("good", good.url, auth),
      at("without", good.url),
      at("inside", inside.url, auth),
      at("gone", gone.url, auth),
    ],
  });
  const all = lines(found);
  assert.deepEqual(all.slice(0, 2), [
    "ok server good: answers HTTP 401 without credentials: it wants a login by Bearer, which is configured",
    `ok login good: the token endpoint ${provider.issuer}/token of ${provider.issuer} answers (HTTP 400)`,
  ]);
  assert.equal(
    all[2],
    "failed server without: answers HTTP 401: it wants a login by Bearer, and its entry has none",
  );
  assert.match(found[2]?.fix ?? "", /toolcrib login/);
  assert.match(
    all.find((line) => line.includes("login inside")) ?? "",
    /^failed .* its address is not public/,
  );
  assert.match(all.find((line) => line.includes("login gone")) ?? "", /^failed .*Cannot reach http/);
});

test("doctor --online asks no token endpoint that a login would not use, and none where no login is configured", async () => {
  await using directory = await makeTemporaryDirectory();
  const posted: string[] = [];
  await using victim = await listen((request, response) => {
    posted.push(`victim ${request.method}`);
    response.end("{}");
  });
  let endpoint = "";
  await using provider = await listen((request, response) => {
    const { origin } = provider;
    if (request.method === "POST") {
      posted.push(`${request.url}`);
      const size = request.url === "/large" ? 600_000 : 2;
      if (request.url === "/away") response.writeHead(307, { location: victim.origin });
      request.resume().on("end", () => response.end("x".repeat(size)));
      return;
    }
    const metadata = { issuer: origin, token_endpoint: endpoint.replace("ORIGIN", origin) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata));
  });
  await using server = await startProtectedServer({
    check: () => undefined,
    authorizationServers: [provider.origin],
  });
  const auth = { auth: { type: "oauth" } };
  for (const [named, reason, reached] of [
    ["http://10.1.2.3/token", /it is not https/, []],
    ["https://10.1.2.3/token", /its address is not public/, []],
    ["https://169.254.169.254/latest", /metadata of a cloud/, []],
    ["https://[::ffff:10.1.2.3]/token", /its address is not public/, []],
    ["https://ada:hunter2@127.0.0.1/token", /user name or a password/, []],
    ["file:///etc/passwd", /it is not https/, []],
    ["no url", /is not a URL/, []],
    ["ORIGIN/away", /redirects .*which is not followed/, ["/away"]],
    ["ORIGIN/large", /is larger than 524288 bytes/, ["/large"]],
  ] as const) {
    endpoint = named;
    posted.length = 0;
    const found = await online(directory, { tool_servers: [at("one", server.url, auth)] });
    assert.match(lines(found).find((line) => line.includes("login one")) ?? "", reason, named);
    assert.deepEqual(posted, reached, named);
    assert.doesNotMatch(JSON.stringify(found), /hunter2/);
  }
  endpoint = "ORIGIN/token";
  posted.length = 0;
  const found = await online(directory, { tool_servers: [at("one", server.url)] });
  assert.match(
    lines(found).find((line) => line.includes("login one")) ?? "",
    /^ok .*\/token of .* was not asked: no login is configured$/,
  );
  assert.deepEqual(posted, []);
});

test("doctor --online compares anchors with the trail, and asks the hosts of the command", async () => {
  await using directory = await makeTemporaryDirectory();
  await using host = await listen((request, response) => {
    assert.equal(`${request.method} ${request.url}`, "GET /");
    response.writeHead(404).end();
  });
  const dead = `http://127.0.0.1:${await freePort()}`;
  const node = process.execPath;
  const command = [node, "-e", "0", `${host.origin}/anchors?key=1`, `${dead}/anchors`];
  const anchor = { file: directory.join("anchors.jsonl"), command };
  const config = { tool_servers: [], audit: { anchor } };
  const first = lines(await online(directory, config));
  assert.equal(first[0], `warning anchor: ${anchor.file} has no anchor yet`);
  assert.equal(first[1], `ok anchor: ${host.origin} of audit.anchor.command answers`);
  assert.match(
    first[2] ?? "",
    new RegExp(`^failed anchor: ${dead} of audit.anchor.command does not answer: `),
  );
  writeFileSync(anchor.file, "not an anchor\n");
  const damaged = lines(await online(directory, config));
  assert.match(damaged[0] ?? "", /^failed anchor: Anchor file .* has no anchor: it proves nothing$/);
});

test("doctor --online asks nothing where nothing is remote, and doctor alone has no such group", async () => {
  await using directory = await makeTemporaryDirectory();
  const found = await online(directory, { tool_servers: [] });
  assert.deepEqual(lines(found), ["ok online: no remote server, pinned package or anchor to ask about"]);
  const { stdout } = await runToolcrib(["doctor"], { directory: directory.path });
  assert.doesNotMatch(stdout, /^Network$/m);
});

test("doctor --online asks the registry for pinned packages", {
  skip: noPackages,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  await using registry = await new NpmRegistry().listen();
  const publish = (name: string, version: string, more: object = {}) =>
    registry.publish({ name, version, ...more }, { "index.js": "" });
  publish("@acme/tool", "1.0.0");
  publish("@acme/tool", "1.2.0");
  publish("@acme/bad", "1.0.0", { deprecated: "use \u001b[31mtool" });
  const npx = (id: string, spec: string) => ({
    id,
    transport: { kind: "stdio", command: "npx", args: ["-y", spec] },
  });
  const found = await online(
    directory,
    {
      tool_servers: [
        npx("older", "@acme/tool@1.0.0"),
        npx("newest", "@acme/tool@1.2.0"),
        npx("gone", "@acme/tool@1.1.0"),
        npx("bad", "@acme/bad@1.0.0"),
        npx("none", "@acme/none@1.0.0"),
      ],
    },
    { PATH: path, npm_config_registry: registry.url, npm_config_fetch_retries: "0" },
  );
  const all = lines(found);
  assert.equal(
    all[0],
    "ok package older: @acme/tool 1.0.0 is in its registry; 1.2.0 is newer (toolcrib update older)",
  );
  assert.equal(all[1], "ok package newest: @acme/tool 1.2.0 is in its registry, and is the newest");
  assert.match(all[2] ?? "", /^failed package gone: its registry does not have @acme\/tool 1\.1\.0 any more/);
  assert.match(
    all[3] ?? "",
    /^warning package bad: @acme\/bad 1\.0\.0 is deprecated by its publisher: use \\u001b/,
  );
  assert.match(all[4] ?? "", /^failed package none: its registry does not have @acme\/none 1\.0\.0 any more/);
});

const pinned = (name: string) => ({
  tool_servers: [{ id: "one", transport: { kind: "stdio", command: "npx", args: ["-y", `${name}@1.0.0`] } }],
});

test("doctor --online does not take a registry that it cannot reach for one without the package", {
  skip: noPackages,
}, async () => {
  for (const name of ["mcp-404", "mcp-etarget"]) {
    await using directory = await makeTemporaryDirectory();
    const dead = `http://127.0.0.1:${await freePort()}`;
    const env = { PATH: path, npm_config_registry: dead, npm_config_fetch_retries: "0" };
    const [found = ""] = lines(await online(directory, pinned(name), env));
    assert.match(found, new RegExp(`^unknown package one: ${name} 1\\.0\\.0 could not be looked up: `));
  }
});

test("doctor --online ends the look-up of a package when all checks together took too long", {
  skip: noPackages,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const isAsked = Promise.withResolvers<void>();
  await using registry = await listen(() => isAsked.resolve());
  // Twenty seconds instead of the three minutes of all checks.
  const preload = directory.join("shorten.mjs");
  writeFileSync(
    preload,
    "const real = AbortSignal.timeout; AbortSignal.timeout = (ms) => real.call(AbortSignal, ms === 180_000 ? 20_000 : ms);",
  );
  const env = { PATH: path, NODE_OPTIONS: `--import=${preload}`, npm_config_registry: registry.origin };
  const found = await online(directory, pinned("@acme/tool"), env);
  await isAsked.promise;
  assert.deepEqual(lines(found), [
    "unknown package one: was not asked to the end: all checks together took 180 s",
  ]);
});
