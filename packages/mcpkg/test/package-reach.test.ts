import assert from "node:assert/strict";
import { test } from "node:test";
import { type Manifest, packageReach } from "@toolcrib/mcpkg";

test("packageReach() names hosts, programs and tools of every endpoint and step, each once", () => {
  const check = (manifest: object, expected: object) =>
    assert.deepEqual(packageReach(manifest as Manifest), { hosts: [], programs: [], tools: [], ...expected });
  const http = (url: string) => ({ type: "http", method: "GET", url });
  check(
    { endpoint: http("https://API.Example.com:8443/v1/{id}?q={q}") },
    { hosts: ["api.example.com:8443"] },
  );
  check(
    {
      endpoint: http("https://b.example"),
      implementations: [
        { id: "a", endpoint: { type: "local", command: "node ./a.js" } },
        { id: "c", endpoint: http("https://a.example/x") },
        { id: "s", endpoint: { type: "starlark", source: "m.star", tools: ["z:z", "a:a"] } },
        { id: "t", endpoint: { type: "starlark", source: "n.star", tools: ["a:a"] } },
      ],
      auth: { type: "oauth2", configHints: { tokenUrl: "https://login.example/token" } },
    },
    {
      hosts: ["a.example", "b.example", "login.example"],
      credential: "oauth2",
      programs: ["node ./a.js"],
      tools: ["a:a", "z:z"],
    },
  );
  check(
    { endpoint: { type: "local", command: "node ./a.js" }, auth: { type: "bearer" } },
    { programs: ["node ./a.js"] },
  );
  check({ chain: [{ tool: "b.b" }, { tool: "a.a" }, { tool: "b.b" }] }, { tools: ["a.a", "b.b"] });
});
