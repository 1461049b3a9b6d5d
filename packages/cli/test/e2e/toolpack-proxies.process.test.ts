/**
 * A toolpack image of three services behind proxies that insert secrets: the egress of this project, and a proxy that
 * knows nothing of it. A client of the SDK talks to the engine in a sandbox with the image as its root. The services
 * are TLS servers on loopback.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, readSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createEgress, createPlaceholder, type EgressEvent } from "@toolcrib/egress";
import { parseHostPattern } from "@toolcrib/hosts";
import { createTestAuthority, startTlsServer, type TlsServer } from "@toolcrib/testing";
import { Proxy as MitmProxy } from "http-mitm-proxy";
import {
  build,
  inImage,
  makeHome,
  offline,
  type ReadImage,
  reasonWithoutImages,
  unpackImage,
  writeCatalog,
} from "./toolpack-images.ts";

const skip = (await reasonWithoutImages()) ?? false;
const services = ["alpha", "beta", "gamma"] as const;
const hostOf = (service: string) => `api.${service}.example`;
const secretOf = (service: string) => `secret-of-${service}-5f1c9a`;
const authority = createTestAuthority();

const home = await makeHome();
const servers = new Map<string, TlsServer>();
let image: ReadImage;
before(async () => {
  if (skip !== false) return;
  await build(home.path, [...services, "--out", "out", ...offline], writeCatalog(home.path, ...services));
  image = await unpackImage(home.join("out/image"), home.join("root"));
  mkdirSync(home.join("temporary"));
  for (const service of services) {
    const server = await startTlsServer({
      certificate: authority.sign({ hosts: [hostOf(service)] }),
      respond({ method, target, headers, body }, response) {
        const key = headers.find(([name]) => name.toLowerCase() === "authorization")?.[1];
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end(JSON.stringify({ service, method, target, body: body.toString(), "your key is": key }));
      },
    });
    servers.set(service, server);
  }
});
after(async () => {
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** A client of the engine in the image, and the process of the engine. */
async function connect(env: { readonly [name: string]: string }, read: readonly string[]) {
  const { command, args } = inImage(home.join("root"), home.join("temporary"), image.config, { env, read });
  const transport = new StdioClientTransport({ command, args, env: {}, stderr: "inherit" });
  const client = new Client({ name: "image-test", version: "1" });
  await client.connect(transport);
  assert(transport.pid !== null);
  return { client, pid: transport.pid, [Symbol.asyncDispose]: () => client.close() };
}

/** Calls a tool of every service, and checks what reached the services and what came back. */
async function callEverything(client: Client, tokens: ReadonlyMap<string, string>): Promise<void> {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    services.flatMap((service) =>
      ["list_repos", "get_repo", "add_repo"].map((tool) => `${service}__${tool}`),
    ),
  );
  for (const service of services) {
    const shown = { service, "your key is": `Bearer ${tokens.get(service)}` };
    const listed = await client.callTool({
      name: `${service}__list_repos`,
      arguments: { owner: "a/b", limit: 3 },
    });
    const target = "/owners/a%2Fb/repos?limit=3";
    assert.deepEqual(parsed(listed), { ...shown, method: "GET", target, body: "" });
    const added = await client.callTool({ name: `${service}__add_repo`, arguments: { name: "é" } });
    assert.deepEqual(parsed(added), { ...shown, method: "POST", target: "/repos", body: '{"name":"é"}' });
    const requests = servers.get(service)?.requests.slice(-2) ?? [];
    for (const { headers, servername } of requests) {
      const sent = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]));
      assert.equal(sent.get("authorization"), `Bearer ${secretOf(service)}`);
      assert.equal(sent.get("host"), hostOf(service));
      assert.equal(servername, hostOf(service));
    }
    assert.equal(requests.length, 2);
  }
}

function parsed(result: unknown): unknown {
  const { content } = result as { readonly content: readonly { readonly text: string }[] };
  return JSON.parse(content[0]?.text ?? "");
}

/** Returns the texts that are in the memory of the processes in the sandbox: what they wrote, and what they were given. */
function findInMemory(pid: number, texts: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const one of descendantsOf(pid)) {
    for (const line of readFileSync(`/proc/${one}/maps`, "utf8").split("\n")) {
      const [, from, to, mode = "", path] =
        /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)$/.exec(line) ?? [];
      if (from === undefined || to === undefined || !mode.startsWith("rw") || path === "[vvar]") continue;
      const bytes = readMemory(one, Number.parseInt(from, 16), Number.parseInt(to, 16));
      for (const text of texts)
        if (bytes.includes(text) || bytes.includes(Buffer.from(text, "utf16le"))) found.add(text);
    }
  }
  return [...found].toSorted();
}

function readMemory(pid: number, from: number, to: number): Buffer {
  // Regions that are only reserved are far larger than what is used of them.
  const bytes = Buffer.alloc(Math.min(to - from, 256 * 1024 * 1024));
  const descriptor = openSync(`/proc/${pid}/mem`, "r");
  try {
    const length = readSync(descriptor, bytes, 0, bytes.length, from);
    return bytes.subarray(0, length);
  } catch {
    // Guard pages cannot be read.
    return Buffer.alloc(0);
  } finally {
    closeSync(descriptor);
  }
}

function descendantsOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const own = children === "" ? [] : children.split(" ").map(Number);
  return [pid, ...own.flatMap(descendantsOf)];
}

test("a toolpack image of three services calls through an egress proxy for each, and no secret enters the sandbox", {
  skip,
}, async () => {
  const events: EgressEvent[] = [];
  await using egress = createEgress(
    {
      connectTo: Object.fromEntries(services.map((one) => [hostOf(one), servers.get(one)?.endpoint ?? ""])),
      internalRanges: ["127.0.0.0/8"],
      caCertificates: [authority.certificate],
    },
    { directory: home.join("egress"), now: Date.now, randomBytes, onEvent: (event) => events.push(event) },
  );
  await using proxies = new AsyncDisposableStack();
  const tokens = new Map<string, string>();
  const env: { [name: string]: string } = { NODE_EXTRA_CA_CERTS: "/tmp/certificates-0.pem" };
  let caFile = "";
  for (const service of services) {
    const host = parseHostPattern(hostOf(service));
    assert(host.kind === "valid");
    const placeholder = createPlaceholder(randomBytes);
    const proxy = proxies.use(
      await egress.openProxy({
        id: `toolpack:${service}`,
        allow: [host.value],
        credentials: [
          {
            id: "token",
            place: { kind: "header", name: "Authorization", format: "Bearer {token}" },
            placeholder,
            secretName: `${service}-token`,
            read: () => secretOf(service),
          },
        ],
      }),
    );
    tokens.set(service, placeholder);
    env[`TOOLCRIB_PROXY_${service.toUpperCase()}`] = proxy.url;
    env[`TOOLCRIB_CREDENTIAL_${service.toUpperCase()}_TOKEN`] = placeholder;
    caFile = proxy.caFile;
  }
  await using engine = await connect(env, [caFile]);
  await callEverything(engine.client, tokens);
  const used = events.flatMap((event) =>
    event.kind === "secret.used" ? [`${event.source} ${event.host}`] : [],
  );
  assert.deepEqual(
    [...new Set(used)].toSorted(),
    services.map((one) => `toolpack:${one} ${hostOf(one)}`),
  );
  assert.deepEqual(
    events.filter(({ kind }) => kind === "egress.denied" || kind === "egress.alarm"),
    [],
  );
  const placeholders = [...tokens.values()].toSorted();
  assert.deepEqual(findInMemory(engine.pid, [...placeholders, ...services.map(secretOf)]), placeholders);
});

test("a toolpack image calls through a proxy of another project, which inserts the secrets", {
  skip,
}, async () => {
  const tokens = new Map(services.map((service) => [service as string, `placeholder-of-${service}`]));
  const proxy = new MitmProxy();
  proxy.onError(() => {});
  proxy.onRequest((context, next) => {
    const options = context.proxyToServerRequestOptions;
    const service = services.find((one) => hostOf(one) === context.clientToProxyRequest.headers.host);
    const server = servers.get(service ?? "");
    assert(options !== undefined && service !== undefined && server !== undefined);
    const headers = options.headers as { [name: string]: string };
    const name = Object.keys(headers).find((one) => one.toLowerCase() === "authorization") ?? "";
    headers[name] = (headers[name] ?? "").replace(tokens.get(service) ?? "", secretOf(service));
    Object.assign(options, {
      host: "127.0.0.1",
      port: server.port,
      servername: hostOf(service),
      ca: authority.certificate,
    });
    next();
  });
  await new Promise<void>((resolve, reject) =>
    proxy.listen({ host: "127.0.0.1", port: 0, sslCaDir: home.join("mitm") }, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  try {
    const { port } = (Reflect.get(proxy, "httpServer") as { address(): AddressInfo }).address();
    const env = {
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
      SSL_CERT_FILE: "/tmp/certificates-0.pem",
      ...Object.fromEntries(
        services.map((one) => [`TOOLCRIB_CREDENTIAL_${one.toUpperCase()}_TOKEN`, tokens.get(one) ?? ""]),
      ),
    };
    await using engine = await connect(env, [home.join("mitm/certs/ca.pem")]);
    // This proxy does not remove secrets from responses.
    const echoed = new Map(services.map((one) => [one as string, secretOf(one)]));
    await callEverything(engine.client, echoed);
  } finally {
    proxy.close();
  }
});
