/** Malformed definitions of one server: clients still list everything else, and the operator sees the findings. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { createRegistry } from "@toolcrib/registry";
import { startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import {
  dataOf,
  onHttp,
  startScriptedServer,
  startTestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const input = { type: "object" };

/** Members of a tool that are malformed, and the member and rule that the finding names. */
const malformedTools: readonly (readonly [members: JsonObject, finding: string])[] = [
  [{ inputSchema: {} }, "inputSchema.type is missing"],
  [{ inputSchema: { type: "string" } }, 'inputSchema.type must be "object"'],
  [{ inputSchema: { type: ["object"] } }, 'inputSchema.type must be "object"'],
  [{ inputSchema: null }, "inputSchema must be an object"],
  [
    { inputSchema: { type: "object", properties: { a: "text" } } },
    "inputSchema.properties.a must be a schema",
  ],
  [{ inputSchema: { type: "object", properties: [] } }, "inputSchema.properties must be an object"],
  [{ inputSchema: { type: "object", required: true } }, "inputSchema.required must be a list"],
  [{ inputSchema: { type: "object", required: [1] } }, "inputSchema.required[0] must be a string"],
  [{ inputSchema: { type: "object", $schema: 7 } }, "inputSchema.$schema must be a string"],
  [{ title: 1 }, "title must be a string"],
  [{ description: ["text"] }, "description must be a string"],
  [{ description: null }, "description must be a string"],
  [{ annotations: [] }, "annotations must be an object"],
  [{ annotations: { readOnlyHint: "yes" } }, "annotations.readOnlyHint must be true or false"],
  [{ annotations: { title: {} } }, "annotations.title must be a string"],
  [{ icons: "icon.png" }, "icons must be a list"],
  [{ icons: [{ mimeType: "image/png" }] }, "icons[0].src is missing"],
  [{ icons: [{ src: "a", sizes: "48x48" }] }, "icons[0].sizes must be a list"],
  [{ icons: [{ src: "a", theme: "blue" }] }, 'icons[0].theme must be "light" or "dark"'],
  [{ _meta: "text" }, "_meta must be an object"],
  [
    { execution: { taskSupport: "maybe" } },
    'execution.taskSupport must be "required" or "optional" or "forbidden"',
  ],
  [{ outputSchema: 1 }, "outputSchema must be an object"],
  [
    { outputSchema: { type: "object", properties: { a: { type: "text" } } } },
    "outputSchema.properties.a.type must name one or more JSON types",
  ],
  [
    { outputSchema: { type: "object", properties: { a: { $ref: "#/$defs/gone" } } } },
    'outputSchema.properties.a.$ref must refer to a place in this schema, not to "#/$defs/gone"',
  ],
  [
    { outputSchema: { type: "object", properties: { a: { pattern: "(" } } } },
    "outputSchema.properties.a.pattern must be a regular expression",
  ],
  [
    { outputSchema: { type: "object", properties: { a: { minimum: 0, exclusiveMinimum: true } } } },
    "outputSchema.properties.a.exclusiveMinimum must be a number",
  ],
  [{ outputSchema: { type: "object", required: "a" } }, "outputSchema.required must be a list of strings"],
];

/** Unusual but valid definitions, and definitions that only some revisions allow. */
const soundTools: readonly JsonObject[] = [
  { outputSchema: { type: "array", items: { type: "string" } } },
  { outputSchema: { anyOf: [{ type: "object" }, { type: "null" }] } },
  { outputSchema: { type: "object", properties: { anything: true, nothing: false } } },
  { inputSchema: { type: "object", properties: { anything: true, nothing: false } } },
  {
    outputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { next: { $ref: "#" }, part: { $ref: "#/$defs/a~1b" }, named: { $ref: "#anchor" } },
      $defs: { "a/b": { type: ["string", "null"] }, other: { $anchor: "anchor", format: "unknown" } },
    },
  },
  { title: "", description: "", icons: [], _meta: {}, annotations: { unknownHint: 1 }, unknown: [1] },
];

/** Members of output schemas that are sound alone, and that a client cannot compile, or not next to those of others. */
const unportableMembers: readonly JsonObject[] = [
  { properties: { a: { $anchor: "1 bad" } } },
  { properties: { a: { $anchor: "twice" }, b: { $anchor: "twice" } } },
  { properties: { a: { type: "null", nullable: false } } },
  {
    properties: {
      a: { type: "string" },
      b: { $id: "http://x/b", properties: { c: { $ref: "#/properties/a" } } },
    },
  },
  { $defs: { a: { $ref: "#/$defs/a" } }, properties: { c: { $ref: "#/$defs/a" } } },
  { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, properties: { c: { $ref: "#/$defs/a" } } },
  { $defs: { q: { $id: "https://good.example/result", type: "string" } } },
  { default: { $id: "https://good.example/result" } },
  { properties: { a: { const: { $anchor: "x" } }, b: { default: [{ $anchor: "x" }] } } },
  { properties: { a: { default: { type: 5 } }, b: { $ref: "#/properties/a/default" } } },
  { properties: { a: { type: "string", format: "email", formatMaximum: "x" } } },
  { $defs: { s: { $id: "http://json-schema.org/draft-07/schema" } } },
];

describe("output schemas of a server that clients cannot compile", () => {
  it("are not shown to clients of the first generation, and change no schema of another server", async () => {
    const named = unportableMembers.map((members, at) => ({
      name: `odd_${at}`,
      inputSchema: input,
      outputSchema: { type: "object", ...members },
    }));
    const properties = { value: { type: "string" } };
    const result = { $id: "https://good.example/result", type: "object", properties, required: ["value"] };
    // The same id, and another schema.
    const stolen = { $id: result.$id, type: "object", properties: { zzz: {} }, required: ["zzz"] };
    const hostile = await startScriptedServer({
      tools: () => [...named, { name: "stolen", inputSchema: input, outputSchema: stolen }],
    });
    const good = await startScriptedServer({
      tools: () => [{ name: "give", inputSchema: input, outputSchema: result }],
      call: () => ({ content: [{ type: "text", text: "" }], structuredContent: { value: "x" } }),
    });
    await using stack = new AsyncDisposableStack();
    stack.use(hostile);
    stack.use(good);
    const servers = [onHttp("hostile", hostile.url), onHttp("good", good.url)];
    const test = stack.use(await startTestGateway({ tool_servers: servers }));
    const client = await test.connect();
    const { tools } = await client.listTools();
    const shown = tools.filter(({ name }) => /^(?:hostile|good)__/.test(name));
    assert.equal(shown.length, named.length + 2);
    for (const { name, outputSchema } of shown.filter(({ name }) => name.startsWith("hostile__odd")))
      assert.equal(outputSchema, undefined, name);
    const { $id: _id, ...withoutId } = result;
    assert.deepEqual(shown.find(({ name }) => name === "good__give")?.outputSchema, withoutId);
    assert.deepEqual((await client.callTool({ name: "good__give" })).structuredContent, { value: "x" });
  });
});

describe("a malformed tool definition", () => {
  it("is quarantined alone, and SDK clients of both generations list the other entries", async () => {
    const named = (prefix: string) => (members: JsonObject, at: number) => ({
      name: `${prefix}_${at}`,
      inputSchema: input,
      ...members,
    });
    const sound = soundTools.map(named("sound"));
    const bad = malformedTools.map(([members]) => members).map(named("bad"));
    await using hostile = await startEchoHttpServer({ builtin: ["echo"], define: [...bad, ...sound] });
    await using other = await startEchoHttpServer({ builtin: ["echo"] });
    await using test = await startTestGateway({
      tool_servers: [onHttp("hostile", hostile.url), onHttp("other", other.url)],
    });
    const expected = ["hostile__echo", ...sound.map(({ name }) => `hostile__${name}`), "other__echo"];
    for (const client of [
      await test.connect(),
      await test.connectModern(),
      await test.connectModern({ versionNegotiation: { mode: "legacy" } }),
    ]) {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      assert.deepEqual(
        names.filter((name) => name.includes("__")),
        expected,
      );
    }
    const findings = malformedTools.map(([, finding], at) => ({
      id: `hostile:bad_${at}`,
      reason: `"hostile:bad_${at}" is malformed: ${finding}`,
    }));
    assert.deepEqual(
      test.gateway.status().quarantined.map(({ id, reason }) => ({ id, reason })),
      findings,
    );
    const client = await test.connect();
    await assert.rejects(
      client.callTool({ name: "hostile__bad_0" }),
      /it is quarantined: "hostile:bad_0" is malformed: inputSchema.type is missing/,
    );
    await test.stop();
    assert.deepEqual(
      dataOf(test.audit(), "server.quarantined"),
      findings.map(({ id, reason }) => ({
        server: "hostile",
        tool: id,
        reason,
        code: "TOOL_DEFINITION_INVALID",
      })),
    );
  });

  it("is listed as soon as its server has repaired it", async () => {
    let description: unknown = 1;
    await using server = await startScriptedServer({
      tools: () => [toolNamed("a", { description: description as string }), toolNamed("b")],
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    const names = async () =>
      (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.includes("__"));
    assert.deepEqual(await names(), ["s__b"]);
    description = "Repaired";
    server.notify("notifications/tools/list_changed");
    await waitUntil(() => test.gateway.status().quarantined.length === 0, { what: "the tool is sound" });
    assert.deepEqual(await names(), ["s__a", "s__b"]);
  });

  it("is refused by registerLocal() of a registry", async () => {
    await using registry = createRegistry();
    for (const [schema, options, finding] of [
      [{}, {}, "inputSchema.type is missing"],
      [null, {}, "inputSchema must be an object"],
      [input, { title: 5 }, "title must be a string"],
      [
        input,
        { outputSchema: { type: "object", required: 1 } },
        "outputSchema.required must be a list of strings",
      ],
      [input, { annotations: { readOnlyHint: 1 } }, "annotations.readOnlyHint must be true or false"],
    ] as const) {
      assert.throws(
        () => registry.registerLocal("tool", "A tool", schema as JsonObject, () => 1, options as object),
        {
          code: "REGISTRY_INVALID_REQUEST",
          message: `The definition of the tool "tool" is malformed: ${finding}`,
        },
      );
    }
    assert.throws(() => registry.registerLocal("tool", 1 as unknown as string, input, () => 1), {
      code: "REGISTRY_INVALID_REQUEST",
    });
  });
});

describe("a malformed resource, template or prompt", () => {
  it("is quarantined alone, and SDK clients of both generations list the other entries", async () => {
    const resource = { uri: "a:sound", name: "sound" };
    const template = { uriTemplate: "a:{sound}", name: "sound" };
    const prompt = { name: "sound" };
    await using hostile = await startScriptedServer({
      tools: () => [toolNamed("a")],
      resources: () => [
        resource,
        { uri: "a:nameless" },
        { name: "nowhere" },
        { ...resource, uri: "a:size", size: "1 MB" },
        { ...resource, uri: "a:mime", mimeType: 1 },
        { ...resource, uri: "a:audience", annotations: { audience: ["everyone"] } },
        { ...resource, uri: "a:priority", annotations: { priority: 2 } },
        { ...resource, uri: "a:modified", annotations: { lastModified: "2026-02-30T00:00:00Z" } },
        { ...resource, uri: "a:recent", annotations: { lastModified: "2026-02-28T00:00:00.5+01:00" } },
      ],
      templates: () => [template, { uriTemplate: "a:{nameless}" }, { name: "nowhere" }, {}],
      prompts: () => [
        prompt,
        { description: "nameless" },
        { name: "list", arguments: {} },
        { name: "arguments", arguments: [{ name: "a" }, { name: "b", required: "yes" }] },
      ],
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("hostile", hostile.url)] });
    for (const client of [await test.connect(), await test.connectModern()]) {
      assert.deepEqual(
        (await client.listResources()).resources.map(({ uri }) => uri),
        ["a:sound", "a:recent"],
      );
      assert.deepEqual(
        (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ["a:{sound}"],
      );
      assert.deepEqual(
        (await client.listPrompts()).prompts.map(({ name }) => name),
        ["hostile__sound"],
      );
    }
    const findings = [
      ["resources/a:nameless", "name is missing"],
      ["resources/nowhere", "uri is missing"],
      ["resources/a:size", "size must be a number"],
      ["resources/a:mime", "mimeType must be a string"],
      ["resources/a:audience", 'annotations.audience[0] must be "user" or "assistant"'],
      ["resources/a:priority", "annotations.priority must be a number from 0 to 1"],
      [
        "resources/a:modified",
        "annotations.lastModified must be a date and time such as 2026-01-31T12:00:00Z",
      ],
      ["resources/a:{nameless}", "name is missing"],
      ["resources/nowhere", "uriTemplate is missing"],
      ["resources/[3]", "name is missing; uriTemplate is missing"],
      ["prompts/[1]", "name is missing"],
      ["prompts/list", "arguments must be a list"],
      ["prompts/arguments", "arguments[1].required must be true or false"],
    ].map(([name, finding]) => ({
      id: `hostile:${name}`,
      reason: `"hostile:${name}" is malformed: ${finding}`,
    }));
    assert.deepEqual(
      test.gateway.status().quarantined.map(({ id, reason }) => ({ id, reason })),
      findings,
    );
  });
});

it("a pattern that RE2 does not support leaves the other checks of a tool's arguments on", async () => {
  const properties = { path: { type: "string", pattern: "^(?!/)" }, count: { type: "integer" } };
  await using server = await startScriptedServer({
    tools: () => [toolNamed("read", { inputSchema: { type: "object", properties, required: ["path"] } })],
    call: () => ({ content: [{ type: "text", text: "done" }] }),
  });
  await using gateway = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
  const client = await gateway.connect();
  const read = async (args: object) =>
    textOf(await client.callTool({ name: "s__read", arguments: { ...args } }));
  assert.equal(await read({ path: "a" }), "done");
  assert.match(
    await read({ path: "a", count: "1" }),
    /Invalid arguments for "s__read":\n- \/count must be integer/,
  );
  assert.match(await read({}), /must have required property 'path'/);
});
