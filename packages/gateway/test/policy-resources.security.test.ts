/**
 * Decisions about resources and prompts in many spellings, through a gateway with
 * a real server and clients, compared with a reference that shares no code.
 */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { fastSample, runCount } from "@toolcrib/testing";
import { onHttp, startScriptedServer, startTestGateway, toolNamed } from "./gateway-harness.ts";
import { type ReferenceRules, referenceAllows } from "./policy-reference.ts";

/** Rules of clients, by name; patterns are those of the server `a`, without `a:`. */
const rulesOf: { readonly [client: string]: ReferenceRules } = {
  free: {},
  noEtc: { deny: ["resources/file:///etc/*", "prompts/review *"] },
  noFile: { deny: ["resources/file:///etc/passwd", "prompts/Admin/Reset"] },
  noApi: { deny: ["resources/https://api.example/admin/*", "prompts/*:delete"] },
  noTeam: { deny: ["resources/memo://Team/*", "prompts/*/50%"] },
  noUrn: { deny: ["resources/urn:note:*", "resources/*.env", "prompts/list"] },
  onlyPub: { allow: ["resources/file:///pub/*", "prompts/list"] },
  onlyApi: { allow: ["resources/https://api.example/v1/*", "prompts/review *"] },
  both: { allow: ["resources/*", "prompts/*"], deny: ["resources/file:///etc/*", "prompts/ops:*"] },
  noPrompts: { deny: ["prompts/*"] },
};

const uris: readonly string[] = [
  // Case of scheme and host.
  ...["file:///etc/passwd", "FILE:///etc/passwd", "File:///etc/passwd", "file:///ETC/passwd"],
  ...["https://api.example/admin/keys", "HTTPS://api.example/admin/keys", "https://API.Example/admin/keys"],
  ...["https://api.example/v1/users", "https://api.example/V1/users", "memo://Team/plan", "memo://team/plan"],
  ...["MEMO://Team/plan", "urn:note:1", "URN:note:1", "urn:Note:1"],
  // Encodings.
  ...["file:///%65tc/passwd", "file:///etc/%70asswd", "file:///%65%74%63/passwd", "file:///pub/a%20b"],
  ...[
    "file:///pub/%7Euser",
    "file:///pub/%c3%a4",
    "file:///pub/%C3%A4",
    "file:///pub/100%25",
    "file:///pub/50%",
  ],
  ...[
    "https://api.example/%61dmin/keys",
    "https://api.example/v1%2Fusers",
    "https://api%2Eexample/admin/keys",
  ],
  ...["memo://%54eam/plan", "urn:note%3A1", "urn:%6Eote:1", "file:///pub/%2Eenv", "file:///pub/x.%65nv"],
  ...["file:///pub/%5C..%5C..%5Cetc%5Cpasswd", "file:///pub/%FF", "file:///pub/x%3F.env"],
  // Dot segments.
  ...["file:///pub/../etc/passwd", "file:///pub/./readme", "file:///./etc/passwd", "file:///pub/x/.."],
  ...["file:///pub/%2e%2e/etc/passwd", "file:///pub/%2E%2E/etc/passwd", "file:///pub/.%2e/etc/passwd"],
  ...[
    "file:///pub/..%2fetc/passwd",
    "file:///pub/..%2F..%2Fetc/passwd",
    "file:///pub/...",
    "file:///pub/..a",
  ],
  ...[
    "https://api.example/v1/../admin/keys",
    "https://api.example/admin/../v1/users",
    "memo://Team/../Team/plan",
  ],
  ...["memo://other/../Team/plan", "file:///../../etc/passwd", "https://api.example/v1/.", "urn:note:../1"],
  // Slashes, hosts, ports, users, queries, fragments.
  ...["file:////etc/passwd", "file:///etc//passwd", "file:/etc/passwd", "file://localhost/etc/passwd"],
  ...[
    "file://LOCALHOST/etc/passwd",
    "file:\\\\\\etc\\passwd",
    "file:///pub\\..\\etc\\passwd",
    "file://host/etc/passwd",
  ],
  ...[
    "https://api.example:443/admin/keys",
    "https://api.example:8443/admin/keys",
    "https://api.example:/admin/keys",
  ],
  ...[
    "https://user@api.example/admin/keys",
    "https://api.example/admin/keys?x=1",
    "https://api.example/admin",
  ],
  ...[
    "https://api.example",
    "https://api.example/",
    "https://api.example/v1/users#top",
    "http://api.example:80/v1/",
  ],
  ...[
    "file:///etc/passwd#",
    "file:///etc/passwd?x",
    "memo://Team/plan#a",
    "file:///pub/x.env",
    "file:///pub/x.env#",
  ],
  ...["file:///pub/readme", "file:///public/readme", "file:///etc", "file:///etc/", "notes", "notes.env"],
];

const prompts: readonly string[] = [
  ...["review code", "review", "review%20code", "review /etc", "review ../x", "list"],
  ...["Admin/Reset", "Admin%2FReset", "ops:delete", "ops:list"],
  ...["a/50%", "50%", "a/50%25"],
];

/** Prompts that the gateway holds back beside those above, because their names could be confused. */
const similarPrompts: readonly string[] = ["Review code", "List", "admin/reset", "OPS:delete"];
const furtherPrompts: readonly string[] = ["Admin/./Reset"];

/** Decisions that differ from those of the reference, and numbers of decisions. */
interface Compared {
  readonly wrong: string[];
  readonly counts: { allowed: number; denied: number };
}

async function compare(
  { wrong, counts }: Compared,
  { uris, prompts }: { readonly uris: readonly string[]; readonly prompts: readonly string[] },
): Promise<void> {
  const reached: string[] = [];
  await using server = await startScriptedServer({
    resources: () => [],
    prompts: () => prompts.map((name) => ({ name })),
    other({ method, params }) {
      if (method === "resources/read") {
        reached.push(`resources/${String(params["uri"])}`);
        return { contents: [] };
      }
      if (method !== "prompts/get") return undefined;
      reached.push(`prompts/${String(params["name"])}`);
      return { messages: [] };
    },
  });
  const ofServer = (patterns: readonly string[] | undefined) => patterns?.map((one) => `a:${one}`);
  const clients = Object.fromEntries(
    Object.entries(rulesOf).map(([name, { allow, deny }]) => [
      name,
      { ...(allow === undefined ? {} : { allow: ofServer(allow) }), deny: ofServer(deny ?? []) },
    ]),
  ) as JsonObject;
  await using test = await startTestGateway(
    { tool_servers: [onHttp("a", server.url)], policy: { clients } },
    { clients: Object.keys(rulesOf) },
  );
  for (const [name, rules] of Object.entries(rulesOf)) {
    const client = await test.connect({ as: name });
    const check = async (target: string, work: Promise<unknown>) => {
      reached.length = 0;
      await work.catch(() => {});
      assert.ok(
        reached.every((one) => one === target),
        `the server receives "${target}" unchanged`,
      );
      const isAllowed = reached.length === 1;
      counts[isAllowed ? "allowed" : "denied"] += 1;
      if (isAllowed !== referenceAllows(rules, target)) {
        wrong.push(`${name}: "${target}" is ${isAllowed ? "allowed" : "denied"}`);
      }
    };
    for (const uri of fastSample(uris)) await check(`resources/${uri}`, client.readResource({ uri }));
    for (const prompt of fastSample(prompts))
      await check(`prompts/${prompt}`, client.getPrompt({ name: `a:${prompt}` }));
  }
}

it("a policy decides about 500 spellings of resources and names of prompts as a reference does", async () => {
  const compared: Compared = { wrong: [], counts: { allowed: 0, denied: 0 } };
  await compare(compared, { uris, prompts });
  await compare(compared, { uris: [], prompts: similarPrompts });
  await compare(compared, { uris: [], prompts: furtherPrompts });
  const { wrong, counts } = compared;
  assert.deepEqual(wrong, []);
  assert.ok(
    counts.allowed + counts.denied >= runCount(500) &&
      counts.allowed >= runCount(200) &&
      counts.denied >= runCount(200),
    JSON.stringify(counts),
  );
});

it("does not take a tool for a resource or a prompt because of its name", async () => {
  const names = [
    "resources/x",
    "resources/file:///pub/a",
    "prompts/x",
    "x:resources/y",
    "x__prompts/y",
    "list/resources",
    "resources_x",
  ];
  const called: string[] = [];
  await using server = await startScriptedServer({
    tools: () => names.map((name) => toolNamed(name)),
    call(_request, name) {
      called.push(name);
      return { content: [] };
    },
  });
  const clients = { reader: { allow: ["a:resources/*", "a:prompts/*", "*:resources/*", "*__prompts/*"] } };
  await using test = await startTestGateway(
    { tool_servers: [onHttp("a", server.url)], policy: { clients } },
    { clients: ["reader", "free"] },
  );
  const listed = async (as: string) => {
    const { tools } = await (await test.connect({ as })).listTools();
    return tools.map(({ name }) => name).filter((name) => name.startsWith("a__"));
  };
  assert.deepEqual(await listed("reader"), []);
  assert.deepEqual(await listed("free"), ["a__list_resources", "a__resources_x"]);
  const reader = await test.connect({ as: "reader" });
  for (const name of names) {
    for (const called of [`a:${name}`, `a__${name}`, `a__${name.replaceAll(/[^\w]/g, "_")}`])
      await assert.rejects(reader.callTool({ name: called }), called);
  }
  assert.deepEqual(called, []);
  const findings = test.gateway.status().quarantined;
  assert.deepEqual(
    findings.map(({ id }) => id),
    names.slice(0, 5).map((name) => `a:${name}`),
  );
  assert.match(findings[0]?.reason ?? "", /rules of a policy would take the tool for a resource or a prompt/);
});
