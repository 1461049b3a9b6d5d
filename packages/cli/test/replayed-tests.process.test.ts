/** Tests of packages that are recorded once and replayed without a network, a secret or another tool. */

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const manifest = {
  toolId: "demo.shout",
  name: "Shout",
  version: "0.1.0",
  description: "Writes a text in capitals.",
  capabilities: ["demo"],
  endpoint: { type: "http", method: "POST", url: "https://shout.example/v1/{text}" },
  input_schema: schema,
  output_schema: schema,
  auth: { type: "api_key", configHints: { query: "key", env: "SHOUT_KEY" } },
  tests: ["tests/one.test.json", "tests/two.test.json"],
};
const good = { name: "one", input: { text: "abc", loud: true }, expected: { text: "ABC" }, assertions: [] };
const chain = {
  ...manifest,
  toolId: "demo.twice",
  endpoint: undefined,
  auth: undefined,
  chain: [
    { step: "a", tool: "demo.shout", inputMapping: { text: "$.input.text" }, outputKey: "first" },
    { step: "b", tool: "demo.shout", inputMapping: { text: "$.first.text" }, outputKey: "second" },
  ],
  tests: ["tests/one.test.json"],
};

interface Replayed {
  readonly mode: string;
  readonly passed: number;
  readonly failed: number;
  readonly results: readonly {
    readonly outcome: string;
    readonly replayed: number;
    readonly failures: string[];
  }[];
}

test("tests are recorded with real requests, and replayed with nothing but the package", async () => {
  await using directory = await makeTemporaryDirectory();
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    const text = decodeURIComponent(/^\/local\/v1\/([^?]*)/.exec(request.url ?? "")?.[1] ?? "").toUpperCase();
    // An API that repeats the credential.
    response.setHeader("content-type", "application/json").setHeader("x-trace", "of today");
    response.end(JSON.stringify({ text, seen: request.url }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const run = async (code: number, args: readonly string[], env: object = {}) => {
    const outcome = await runToolcrib(args, { directory: directory.path, env: { ...env } });
    assert.equal(outcome.code, code, outcome.stdout + outcome.stderr);
    return outcome;
  };
  const replay = async (code: number, ...args: readonly string[]) =>
    JSON.parse((await run(code, ["test", ...args, "--replay", "--json"])).stdout) as Replayed;
  const config = {
    packages: {
      "demo.shout": {
        // Another path than that of the manifest, which the recording has.
        endpoint: { url: `http://127.0.0.1:${port}/local/v1/{text}` },
        credentials: { token: { secret_key_ref: "SHOUT_KEY" } },
      },
    },
  };
  writeFiles(directory.path, {
    "shout/manifest.json": JSON.stringify(manifest),
    "shout/tests/one.test.json": JSON.stringify(good),
    "shout/tests/two.test.json": JSON.stringify({ ...good, name: "two", expected: { text: "abc" } }),
    "twice/manifest.json": JSON.stringify(chain),
    "twice/tests/one.test.json": JSON.stringify(good),
    "toolcrib.yaml": JSON.stringify(config),
  });
  const env = { TOOLCRIB_SECRET_SHOUT_KEY: "sk-very-secret-4711" };
  try {
    // One test fails: it is said, and its file stays.
    const before = readFileSync(directory.join("shout/tests/two.test.json"), "utf8");
    const recorded = await run(1, ["test", "./shout", "--use-config", "--record"], env);
    assert.match(recorded.stdout, /^Recorded tests\/one\.test\.json: 1 response$/m);
    assert.match(recorded.stderr, /^NOT RECORDED: tests\/two\.test\.json did not pass\. /m);
    assert.equal(readFileSync(directory.join("shout/tests/two.test.json"), "utf8"), before);
    assert.deepEqual(seen, [
      "/local/v1/abc?key=sk-very-secret-4711",
      "/local/v1/abc?key=sk-very-secret-4711",
    ]);
    const text = readFileSync(directory.join("shout/tests/one.test.json"), "utf8");
    assert.doesNotMatch(text, /4711|x-trace/);
    const { exchanges, ...others } = JSON.parse(text) as { exchanges: object[] };
    assert.deepEqual(others, good);
    assert.deepEqual((exchanges[0] as { request: object }).request, {
      method: "POST",
      url: "/v1/abc",
      body: { loud: true },
    });
    // A chain is recorded with the calls of its steps.
    await run(0, ["install", "./shout", "--user"]);
    await run(0, ["test", "./twice", "--record", "--allow-calls"], env);
    const planned = await run(0, ["install", "./twice", "--user", "--dry-run"]);
    assert.match(planned.stdout, /^ {2}Reaches calls demo\.shout$/m);
    const plan = await run(0, ["install", "./shout", "--allow-changed-release", "--dry-run", "--json"]);
    assert.deepEqual(JSON.parse(plan.stdout).packages[0].access, {
      hosts: ["shout.example"],
      credential: "api_key",
      programs: [],
      tools: [],
    });
    await run(0, ["install", "./twice", "--user"]);
    const why = await run(0, ["info", "demo.twice", "--why"]);
    assert.match(why.stdout, /^ {2}a: demo\.shout \(installed 0\.1\.0\)$/m);
    await run(0, ["uninstall", "demo.twice", "--user"]);
    await run(0, ["uninstall", "demo.shout", "--user"]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  // Without server, configuration, secret and the tools of the chain.
  writeFileSync(directory.join("toolcrib.yaml"), "{}\n");
  const { mode, passed, failed, results } = await replay(1, "./shout");
  assert.deepEqual([mode, passed, failed], ["replay", 1, 1]);
  assert.deepEqual(
    results.map(({ outcome, replayed }) => [outcome, replayed]),
    [
      ["passed", 1],
      ["error", 0],
    ],
  );
  assert.match(results[1]?.failures[0] ?? "", /PACKAGE_REPLY_MISSING: .*it has no recorded reply/);
  const shown = await run(0, ["test", "./twice", "--replay", "--junit", "out.xml"]);
  assert.match(shown.stdout, /^✓ one .* \(recorded\)$/m);
  assert.match(
    shown.stdout,
    /^Replayed: 1 test answered by recorded replies\. No request of an http endpoint was sent/m,
  );
  assert.match(readFileSync(directory.join("out.xml"), "utf8"), /name="toolcrib\.mode" value="replay"/);
  // What a replay notices: other requests, other steps, and expectations that the recording does not meet.
  const change = async (path: string, from: string, to: string, expected: RegExp) => {
    const file = directory.join(path);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(from, to));
    const changed = await replay(1, `./${path.split("/")[0]}`);
    assert.match(JSON.stringify(changed.results[0]?.failures), expected);
    writeFileSync(file, text);
  };
  await change(
    "shout/manifest.json",
    "/v1/{text}",
    "/v2/{text}",
    /REPLY_MISSING.*POST \/v2\/abc, and none of its 1/,
  );
  await change("shout/manifest.json", '"POST"', '"PUT"', /REPLY_MISSING.*PUT/);
  await change("shout/tests/one.test.json", '"loud": true', '"loud": false', /REPLY_MISSING/);
  await change(
    "shout/tests/one.test.json",
    '"text": "ABC"',
    '"text": "ABD"',
    /expected \\"ABD\\", got \\"ABC\\"/,
  );
  await change(
    "twice/manifest.json",
    "$.first.text",
    "$.input.text",
    /failed at step \\"b\\".*made the call demo\.shout/,
  );
  // Installed packages are listed without a configuration, as they are tested.
  await run(0, ["install", "./shout", "--user"]);
  rmSync(directory.join("toolcrib.yaml"));
  assert.match((await run(5, ["list"])).stderr, /"demo\.shout"/);
  const rotated = await run(1, ["registry", "init", "r", "--key", "none.pem"]);
  assert.match(rotated.stderr, /hint: .*openssl genpkey -algorithm ed25519 -out none\.pem/);
  // A replay is no history of the tool, and there is one way at a time.
  assert.match((await run(2, ["test", "./shout", "--replay", "--record"])).stderr, /give one of them/);
  // The program of a package, with the replies that it was published with.
  const example = join(import.meta.dirname, "../../../examples/packages/longest-words");
  assert.match(
    (await run(2, ["test", example, "--record"])).stderr,
    /does not record the calls of the program/,
  );
});
