/** The registries that the settings of package managers name, and the proxies that lead to them. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { findRegistries } from "@toolcrib/runners";
import { makeTemporaryDirectory } from "@toolcrib/testing";

type Search = Parameters<typeof findRegistries>[0];
type Kind = Search["run"]["kind"];

interface Machine {
  readonly env?: { readonly [name: string]: string };
  readonly proxies?: { readonly [name: string]: string };
  readonly hosts?: readonly string[];
  /** The output of the tools, by the last word that names the command. */
  readonly prints?: { readonly [word: string]: string };
}

/** Finds the registries on a machine whose tools print what it says; a step without an entry prints nothing. */
function find(kind: Kind, { env = {}, proxies = {}, hosts = [], prints = {} }: Machine) {
  return findRegistries({
    run: { kind, packages: ["a-package"], command: undefined, args: [], python: undefined },
    runner: "/usr/bin/runner",
    settings: { env, proxies, files: [], folders: [] },
    hosts,
    runStep: async ({ args }) =>
      Object.entries(prints).find(([word]) => args.join(" ").includes(word))?.[1] ?? "[]",
  });
}

/** The origins in one line each. */
async function shown(kind: Kind, machine: Machine): Promise<readonly string[]> {
  const { origins } = await find(kind, machine);
  return origins.map(({ scheme, host, port }) => `${scheme} ${host} ${port}`);
}

test("npm has the registry of each scope, and the hosts that the operator added", async () => {
  const config = {
    registry: "https://npm.example.com/",
    "@acme:registry": "http://[::1]:4873/path/",
    "@other:registry": "https://NPM.example.com:443/other",
    proxy: "http://proxy.example.com",
  };
  const machine = { prints: { "config list": JSON.stringify(config) }, hosts: ["files.example.com:8443"] };
  assert.deepEqual(await shown("npm", machine), [
    "https npm.example.com 443",
    "http ::1 4873",
    "https files.example.com 8443",
  ]);
});

test("Go has its module proxies and its checksum database", async () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      "https://a.example.com,direct",
      "sum.example.com",
      ["https a.example.com 443", "https sum.example.com 443"],
    ],
    ["https://a.example.com|http://b:8081", "off", ["https a.example.com 443", "http b 8081"]],
    ["off", "sum.example.com+abc+def https://mirror.example.com/sumdb", ["https mirror.example.com 443"]],
    ["file:///srv/modules", "sum.example.com+abc+def", ["https sum.example.com 443"]],
  ];
  for (const [GOPROXY, GOSUMDB, expected] of cases) {
    assert.deepEqual(await shown("go", { prints: { env: JSON.stringify({ GOPROXY, GOSUMDB }) } }), expected);
  }
  const none = { prints: { env: JSON.stringify({ GOPROXY: "direct", GOSUMDB: "off" }) } };
  await assert.rejects(find("go", none), { code: "PACKAGE_FETCH_FAILED", message: /name no registry/ });
  await assert.rejects(find("go", { prints: { env: "no JSON" } }), { code: "PACKAGE_FETCH_FAILED" });
});

test("Python has the indexes of the variables and the settings file, and the hosts of the files that they list", async () => {
  await using folder = await makeTemporaryDirectory();
  const settings = [
    'extra-index-url = ["https://b.example.com/simple"]',
    "[[index]]",
    'name = "main"',
    'url = "https://c.example.com/simple"',
    "default = true",
  ];
  writeFileSync(folder.join("uv.toml"), settings.join("\n"));
  const env = {
    UV_CONFIG_FILE: folder.join("uv.toml"),
    UV_INDEX: "mine=https://d.example.com/simple https://e.example.com/simple",
  };
  const files = JSON.stringify({ found: ["https://files.example.com", "http://plain.example.com", 7] });
  assert.deepEqual(await shown("python", { env, prints: { "--use-system-ca": files } }), [
    "https c.example.com 443",
    "https d.example.com 443",
    "https e.example.com 443",
    "https b.example.com 443",
    "https files.example.com 443",
  ]);
  const named = { env: { UV_DEFAULT_INDEX: "https://f.example.com/simple" } };
  assert.deepEqual(await shown("python", named), ["https f.example.com 443"]);
  const silent = JSON.stringify({ found: [], problem: "f.example.com: ECONNREFUSED" });
  await assert.rejects(shown("python", { ...named, prints: { "--use-system-ca": silent } }), {
    code: "PACKAGE_FETCH_FAILED",
    message: /index does not answer: f\.example\.com: ECONNREFUSED/,
  });
  const help = "The default package index (by\n          default: <https://g.example.com/simple>)";
  assert.deepEqual(await shown("python", { prints: { "--help": help } }), ["https g.example.com 443"]);
});

test("the proxy of an origin is that of the variables, of the settings of npm first, and none for no_proxy", async () => {
  const proxies = {
    HTTPS_PROXY: "http://secure:3128",
    http_proxy: "plain:3129",
    no_proxy: "internal.example.com, .corp.example.com,exact:8443",
  };
  const urls: readonly (readonly [string, string | undefined])[] = [
    ["https://a.example.com", "http://secure:3128"],
    ["http://a.example.com", "http://plain:3129"],
    ["https://internal.example.com", undefined],
    ["https://x.internal.example.com", undefined],
    ["https://notinternal.example.com", "http://secure:3128"],
    ["https://x.corp.example.com", undefined],
    ["https://exact:8443", undefined],
    ["https://exact", "http://secure:3128"],
  ];
  const viaOf = async (kind: Kind, machine: Machine) => {
    const { origins, via } = await find(kind, machine);
    return origins.map(via);
  };
  const GOPROXY = urls.map(([url]) => url).join(",");
  const prints = { env: JSON.stringify({ GOPROXY, GOSUMDB: "off" }) };
  assert.deepEqual(
    await viaOf("go", { proxies, prints }),
    urls.map(([, expected]) => expected),
  );
  const all = { no_proxy: "*", ALL_PROXY: "http://all:1" };
  assert.deepEqual(await viaOf("go", { proxies: all, prints }), Array(urls.length).fill(undefined));
  const config = {
    registry: "https://a.example.com",
    "@plain:registry": "http://b.example.com",
    "@direct:registry": "https://direct.example.com",
    "https-proxy": "http://npm:1",
    noproxy: ["direct.example.com"],
  };
  const npm = { proxies, prints: { "config list": JSON.stringify(config) } };
  assert.deepEqual(await viaOf("npm", npm), ["http://npm:1", "http://plain:3129", undefined]);
});
