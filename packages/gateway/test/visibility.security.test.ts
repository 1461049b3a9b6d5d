/** A client learns nothing of a server that the policy hides from it, by any route; the operator sees everything. */

import assert from "node:assert/strict";
import { get } from "node:http";
import { it } from "node:test";
import { readToken } from "@toolcrib/auth";
import type { JsonObject } from "@toolcrib/json";
import { startEchoHttpServer } from "@toolcrib/testing";
import type { Identity } from "@toolcrib/tool";
import { callsIn, onHttp, startScriptedServer, startTestGateway } from "./gateway-harness.ts";

const secretServers = /vault|backup|payroll/;

it("servers that a policy hides are absent from status, metrics, logs, endpoints and error texts", async () => {
  await using open = await startEchoHttpServer({ builtin: ["echo"] });
  await using vault = await startEchoHttpServer({ builtin: ["echo"], instructions: "The vault" });
  const down = "http://127.0.0.1:9/mcp";
  await using test = await startTestGateway(
    {
      tool_servers: [
        onHttp("open", open.url),
        onHttp("vault", vault.url),
        onHttp("backup", down),
        onHttp("payroll", down),
      ],
      policy: {
        clients: {
          denied: { deny: ["vault:*", "backup:*", "payroll*"] },
          listed: {
            allow: ["open:echo", "*:nothing_of_this_name", "toolcrib:*"],
            deny: ["payroll:*", "backup:*"],
          },
        },
      },
    },
    { clients: ["denied", "listed", "free"] },
  );
  const free = await test.connect({ as: "free" });
  await free.callTool({ name: "vault__echo", arguments: { text: "x" } });
  const { origin } = await test.endpoint();
  const getAs = async (as: string, path: string) => {
    const headers = { authorization: `Bearer ${readToken(test.home, as)}` };
    const response = await fetch(`${origin}${path}`, { headers });
    return { status: response.status, text: await response.text() };
  };
  const paths = ["/api/v1/status", "/api/v1/tools", "/metrics"];
  for (const path of paths) assert.match((await getAs("free", path)).text, /vault/, path);
  for (const as of ["denied", "listed"]) {
    for (const path of paths)
      assert.doesNotMatch((await getAs(as, path)).text, secretServers, `${as} ${path}`);
    const status = JSON.parse((await getAs(as, "/api/v1/status")).text) as JsonObject;
    assert.equal(status["tools"], 1);
    assert.match((await getAs(as, "/metrics")).text, /^toolcrib_tools 1$/m);
    for (const path of ["/api/v1/servers/NAME/log", "/mcp/s/NAME"]) {
      const at = async (name: string) => {
        const { status: code, text } = await getAs(as, path.replace("NAME", name));
        return `${code} ${text.replaceAll(name, "NAME")}`;
      };
      const unknown = await at("nowhere");
      assert.match(unknown, /^(?:404 .*SERVER_NOT_FOUND|403 .*HTTP_ROLE_REQUIRED)/);
      for (const name of ["vault", "backup", "payroll"])
        assert.equal(await at(name), unknown, `${as} ${path}`);
    }
    const client = await test.connect({ as });
    assert.doesNotMatch(client.getInstructions() ?? "", secretServers);
    for (const name of ["backup__x", "payroll:x"]) {
      const { data } = await client.callTool({ name, arguments: {} }).then(
        () => assert.fail("It was called"),
        (error: { readonly data?: JsonObject }) => error,
      );
      assert.equal(data?.["hint"], "see tools/list, or search_tools", `${as} ${name}`);
    }
  }
  const { path: socketPath } = await test.gateway.listenControl();
  const ofOperator = await new Promise<string>((resolve, reject) => {
    get({ socketPath, path: "/api/v1/status", agent: false }, async (response) => {
      resolve((await response.toArray()).join(""));
    }).once("error", reject);
  });
  for (const name of ["open", "vault", "backup", "payroll"])
    assert.match(ofOperator, new RegExp(`"${name}"`));
});

it("a denied tool, resource or prompt is answered as one that does not exist, and recorded as denied", async () => {
  await using a = await startEchoHttpServer({ builtin: ["echo", "env"] });
  await using b = await startEchoHttpServer({ builtin: ["echo"] });
  const deny = ["a:env", "b:*", "*:resources/echo://note", "a:prompts/plain"];
  await using test = await startTestGateway(
    { tool_servers: [onHttp("a", a.url), onHttp("b", b.url)], policy: { clients: { ci: { deny } } } },
    { clients: ["ci"] },
  );
  const client = await test.connect({ as: "ci" });
  const own = await test.connect({ as: "ci", server: "a" });
  const modern = await test.connectModern({ as: "ci" });
  const answerOf = async (name: string, work: Promise<unknown>) => {
    const answer = await work.then(
      (result) => ({ result }),
      ({ code, message, data }: { readonly [name: string]: unknown }) => ({ code, message, data }),
    );
    const text = JSON.stringify(answer).replaceAll(name, "NAME");
    return text.replace(/("toolcrib\/callId":")[0-9a-f-]+/, "$1ID");
  };
  const check = async (denied: string, unknown: string, use: (name: string) => Promise<unknown>) => {
    const expected = await answerOf(unknown, use(unknown));
    assert.match(expected, /nknown|not found|names no|No tool/);
    assert.equal(await answerOf(denied, use(denied)), expected, denied);
  };
  for (const given of [{}, { x: 1 }, "no object"]) {
    const asArguments = given as { readonly x?: number };
    await check("a__env", "a__nil", (name) => client.callTool({ name, arguments: asArguments }));
    await check("b__echo", "c__echo", (name) => client.callTool({ name, arguments: asArguments }));
  }
  await check("b:echo", "c:echo", (name) => modern.callTool({ name, arguments: {} }));
  await check("env", "nil", (name) => own.callTool({ name, arguments: {} }));
  for (const tool of ["call_tool", "describe_tool"]) {
    await check("b__echo", "c__echo", (name) => client.callTool({ name: tool, arguments: { name } }));
  }
  await check("echo://note", "echo://nil", (uri) => client.readResource({ uri }));
  await check("echo://note", "echo://nil", (uri) => client.subscribeResource({ uri }));
  await check("a__plain", "a__nil", (name) => client.getPrompt({ name }));
  const argument = { name: "name", value: "A" };
  await check("a__plain", "a__nil", (name) =>
    client.complete({ ref: { type: "ref/prompt", name }, argument }),
  );
  await test.stop();
  const denials = callsIn(test.audit()).filter((line) => line.includes("denied POLICY_DENIED"));
  assert.equal(denials.filter((line) => line.startsWith("a:env ")).length, 4);
  assert.ok(denials.some((line) => line.startsWith("a:resources/echo://note ")));
});

it("a client sees hidden servers only with the role of an operator", async () => {
  await using open = await startEchoHttpServer({ builtin: ["echo"] });
  await using vault = await startEchoHttpServer({ builtin: ["echo"] });
  const roles: { readonly [name: string]: Identity["roles"] } = {
    nobody: [],
    viewer: ["viewer"],
    operator: ["operator"],
    admin: ["viewer", "admin"],
  };
  await using test = await startTestGateway(
    { tool_servers: [onHttp("open", open.url), onHttp("vault", vault.url)], policy: { deny: ["vault:*"] } },
    {
      authenticate: async (authorization) => {
        const name = authorization?.replace("Bearer ", "") ?? "";
        const own = roles[name];
        return own && { issuer: "https://id.example.com", subject: name, name, roles: own };
      },
    },
  );
  const { origin } = await test.endpoint();
  for (const [name, isShown] of [
    ["nobody", false],
    ["viewer", false],
    ["operator", true],
    ["admin", true],
  ] as const) {
    const response = await fetch(`${origin}/api/v1/status`, { headers: { authorization: `Bearer ${name}` } });
    assert.equal((await response.text()).includes("vault"), isShown, name);
  }
});

it("completions say nothing of what is denied: of a prompt, a template, or the URIs that a value makes", async () => {
  const paths = ["public", "secret/1", "secret/2", "sec"];
  const received: JsonObject[] = [];
  await using server = await startScriptedServer({
    prompts: () => [{ name: "open" }, { name: "denied" }],
    resources: () => [{ uri: "file:///secret/list", name: "r" }],
    templates: () => [
      { uriTemplate: "file:///{+path}", name: "t" },
      { uriTemplate: "file:///{dir}/{name}", name: "t" },
      { uriTemplate: "hidden://{path}", name: "t" },
      { uriTemplate: "search://all{?q,path}", name: "t" },
    ],
    other({ method, params }) {
      if (method !== "completion/complete") return undefined;
      received.push(params);
      return { completion: { values: paths, total: paths.length, hasMore: false } };
    },
  });
  const deny = [
    "s:prompts/denied",
    "s:resources/hidden:*",
    "s:resources/file:///secret/*",
    "s:resources/search://all*path=secret*",
  ];
  await using test = await startTestGateway(
    { tool_servers: [onHttp("s", server.url)], policy: { clients: { ci: { deny } } } },
    { clients: ["ci", "free"] },
  );
  const all = { values: paths, total: paths.length, hasMore: false };
  const filtered = { values: ["public", "sec"], hasMore: false };
  type Params = { ref: JsonObject; argument: JsonObject; context?: JsonObject };
  const template = (uri: string, name: string, value: string, known?: JsonObject): Params => ({
    ref: { type: "ref/resource", uri },
    argument: { name, value },
    ...(known === undefined ? {} : { context: { arguments: known } }),
  });
  const prompt = (name: string): Params => ({
    ref: { type: "ref/prompt", name },
    argument: { name: "x", value: "" },
  });
  const cases: readonly (readonly [
    params: Params,
    expected: JsonObject | "unknown",
    free?: JsonObject | "unknown",
  ])[] = [
    [prompt("open"), all],
    [prompt("nil"), "unknown", "unknown"],
    [prompt("denied"), "unknown"],
    [template("nil:///{path}", "path", ""), "unknown", "unknown"],
    [template("hidden://{path}", "path", "a"), "unknown"],
    [template("hidden://a", "path", "a"), "unknown"],
    [template("file:///secret/list", "path", "a"), "unknown"],
    [template("file:///{+path}", "path", ""), filtered],
    [template("file:///{+path}", "path", "sec"), filtered],
    [template("file:///{+path}", "other", "secret/"), all],
    ...["secret/", "secret/1", "a/../secret/1", "secret%2F1", "secret\\1", "./secret/1", "%73ecret/1"].map(
      (value) => [template("file:///{+path}", "path", value), "unknown"] as const,
    ),
    [template("file:///{dir}/{name}", "name", "a", { dir: "public" }), all],
    [template("file:///{dir}/{name}", "name", "a", { dir: "secret" }), "unknown"],
    [template("file:///{dir}/{name}", "name", "a"), all],
    [template("file:///{dir}/{name}", "dir", "secret"), "unknown"],
    [template("search://all{?q,path}", "path", "secret"), "unknown"],
    [template("search://all{?q,path}", "path", "public"), filtered],
    [
      { ref: { type: "ref/prompt", name: "denied" }, argument: { name: "x", value: ["a"] } },
      "unknown",
      "unknown",
    ],
  ];
  for (const view of [undefined, "s"]) {
    const where = view === undefined ? {} : { server: view };
    for (const as of ["ci", "free"]) {
      const legacy = await test.connect({ as, ...where });
      const modern = await test.connectModern({ as, ...where });
      for (const [params, ofCi, ofFree = all] of cases) {
        const { ref } = params;
        const sent =
          "name" in ref && view === undefined
            ? { ...params, ref: { ...ref, name: `s__${String(ref["name"])}` } }
            : params;
        const expected = as === "ci" ? ofCi : ofFree;
        const count = received.length;
        for (const client of [legacy, modern]) {
          const answer = await client.complete(sent as never).then(
            ({ completion }) => completion,
            ({ code, message }: { readonly code: number; readonly message: string }) => {
              assert.equal(code, -32602);
              return /"ref" names no prompt or resource template|"argument" must be an object/.test(message)
                ? "unknown"
                : message;
            },
          );
          assert.deepEqual(answer, expected, `${as} ${view} ${JSON.stringify(sent)}`);
        }
        assert.equal(received.length - count, expected === "unknown" ? 0 : 2);
      }
    }
  }
  await test.stop();
  const denials = callsIn(test.audit()).filter((line) => line.includes("denied POLICY_DENIED"));
  assert.ok(denials.some((line) => line.startsWith("s:resources/file:///secret/1 ")));
});
