/** The registries that the settings of package managers name, and the proxies that lead to them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { goRegistryUrls, npmRegistryUrls, originsOf, proxyChooser, pythonIndexes } from "@toolcrib/runners";

/** The origins of URLs, in one line each. */
function shown(urls: readonly string[]): readonly string[] {
  return originsOf(urls).map(({ scheme, host, port }) => `${scheme} ${host} ${port}`);
}

test("npm has the registry of each scope", () => {
  const config = {
    registry: "https://npm.example.com/",
    "@acme:registry": "http://[::1]:4873/path/",
    "@other:registry": "https://NPM.example.com:443/other",
    proxy: "http://proxy.example.com",
  };
  assert.deepEqual(shown(npmRegistryUrls(config)), ["https npm.example.com 443", "http ::1 4873"]);
});

test("Go has its module proxies and its checksum database", () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      "https://a.example.com,direct",
      "sum.example.com",
      ["https a.example.com 443", "https sum.example.com 443"],
    ],
    ["https://a.example.com|http://b:8081", "off", ["https a.example.com 443", "http b 8081"]],
    ["off", "sum.example.com+abc+def https://mirror.example.com/sumdb", ["https mirror.example.com 443"]],
    ["file:///srv/modules", "sum.example.com+abc+def", ["https sum.example.com 443"]],
    ["direct", "off", []],
  ];
  for (const [GOPROXY, GOSUMDB, expected] of cases) {
    assert.deepEqual(shown(goRegistryUrls({ GOPROXY, GOSUMDB })), expected);
  }
});

test("Python has the indexes of the variables and of the settings file", () => {
  const settings = `
    extra-index-url = ["https://b.example.com/simple"]
    [[index]]
    name = "main"
    url = "https://c.example.com/simple"
    default = true
  `;
  const env = { UV_INDEX: "mine=https://d.example.com/simple https://e.example.com/simple" };
  assert.deepEqual(pythonIndexes({}, ""), { main: undefined, others: [] });
  const both = pythonIndexes(env, settings);
  assert.equal(both.main, "https://c.example.com/simple");
  assert.deepEqual(shown(both.others), [
    "https d.example.com 443",
    "https e.example.com 443",
    "https b.example.com 443",
    "https c.example.com 443",
  ]);
  assert.equal(
    pythonIndexes({ UV_DEFAULT_INDEX: "https://f.example.com" }, settings).main,
    "https://f.example.com",
  );
  assert.equal(pythonIndexes({}, "index-url = 'https://g.example.com'").main, "https://g.example.com");
});

test("the proxy of an origin is that of the variables, of the settings of npm first, and none for no_proxy", () => {
  const origin = (text: string) => originsOf([text])[0] as NonNullable<ReturnType<typeof originsOf>[number]>;
  const env = {
    HTTPS_PROXY: "http://secure:3128",
    http_proxy: "plain:3129",
    no_proxy: "internal.example.com, .corp.example.com,exact:8443",
  };
  const choose = proxyChooser("go", env);
  const cases: readonly (readonly [string, string | undefined])[] = [
    ["https://a.example.com", "http://secure:3128"],
    ["http://a.example.com", "http://plain:3129"],
    ["https://internal.example.com", undefined],
    ["https://x.internal.example.com", undefined],
    ["https://notinternal.example.com", "http://secure:3128"],
    ["https://x.corp.example.com", undefined],
    ["https://exact:8443", undefined],
    ["https://exact", "http://secure:3128"],
  ];
  for (const [url, expected] of cases) assert.equal(choose(origin(url)), expected, url);
  const npm = { "https-proxy": "http://npm:1", proxy: null, noproxy: ["direct.example.com"] };
  assert.equal(proxyChooser("npm", env, npm)(origin("https://a.example.com")), "http://npm:1");
  assert.equal(proxyChooser("npm", env, npm)(origin("http://a.example.com")), "http://plain:3129");
  assert.equal(proxyChooser("npm", env, npm)(origin("https://direct.example.com")), undefined);
  assert.equal(
    proxyChooser("go", { no_proxy: "*", ALL_PROXY: "http://all:1" })(origin("https://a.b")),
    undefined,
  );
});
