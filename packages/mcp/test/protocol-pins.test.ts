/**
 * Pins the values on the wire: a change here is a change of the protocol
 * and must be intended. Values that the official packages also define are
 * compared with theirs.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BAGGAGE_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  TRACEPARENT_META_KEY,
} from "@modelcontextprotocol/client";
import {
  LoggingLevelSchema,
  LATEST_PROTOCOL_VERSION as latestOfV1,
} from "@modelcontextprotocol/sdk/types.js";
import { legacyVersions, metaKeys, mirroredParametersOf, modernVersions, rpcCodes } from "@toolcrib/mcp";
import { callOf, modernMeta, send, startDemoHttp } from "./demo-http.ts";

test("Revisions are the published ones, newest first, each of one era", () => {
  assert.deepEqual(legacyVersions, ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
  assert.deepEqual(modernVersions, ["2026-07-28"]);
  assert.equal(legacyVersions[0], "2025-11-25");
  assert.equal(modernVersions[0], "2026-07-28");
  assert.equal(latestOfV1, legacyVersions[0]);
  // The SDK still lists a draft that was never published.
  assert.deepEqual(
    SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version !== "2024-10-07"),
    [...legacyVersions],
  );
});

test("_meta keys are those of the 2026-07-28 schema", () => {
  assert.deepEqual(metaKeys, {
    protocolVersion: "io.modelcontextprotocol/protocolVersion",
    clientInfo: "io.modelcontextprotocol/clientInfo",
    clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
    serverInfo: "io.modelcontextprotocol/serverInfo",
    logLevel: "io.modelcontextprotocol/logLevel",
    subscriptionId: "io.modelcontextprotocol/subscriptionId",
  });
  assert.deepEqual(metaKeys, {
    protocolVersion: PROTOCOL_VERSION_META_KEY,
    clientInfo: CLIENT_INFO_META_KEY,
    clientCapabilities: CLIENT_CAPABILITIES_META_KEY,
    serverInfo: SERVER_INFO_META_KEY,
    logLevel: LOG_LEVEL_META_KEY,
    subscriptionId: SUBSCRIPTION_ID_META_KEY,
  });
  // Trace context has keys without a prefix and is passed through.
  assert.deepEqual([TRACEPARENT_META_KEY, BAGGAGE_META_KEY], ["traceparent", "baggage"]);
});

test("Error codes are those of JSON-RPC 2.0 and of the MCP schemas", () => {
  assert.deepEqual(rpcCodes, {
    parseError: -32700,
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    internalError: -32603,
    RESOURCE_NOT_FOUND: -32002,
    sessionNotFound: -32001,
    headerMismatch: -32020,
    missingClientCapability: -32021,
    unsupportedVersion: -32022,
  });
  assert.equal(rpcCodes.parseError, ProtocolErrorCode.ParseError);
  assert.equal(rpcCodes.invalidRequest, ProtocolErrorCode.InvalidRequest);
  assert.equal(rpcCodes.methodNotFound, ProtocolErrorCode.MethodNotFound);
  assert.equal(rpcCodes.invalidParams, ProtocolErrorCode.InvalidParams);
  assert.equal(rpcCodes.internalError, ProtocolErrorCode.InternalError);
  assert.equal(rpcCodes.missingClientCapability, ProtocolErrorCode.MissingRequiredClientCapability);
  assert.equal(rpcCodes.unsupportedVersion, ProtocolErrorCode.UnsupportedProtocolVersion);
});

test("Log levels are those of RFC 5424 in the order of their severity", async () => {
  await using demo = await startDemoHttp();
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "n", version: "0" } };
  const opened = await send("POST", demo.url, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  const headers = { "MCP-Session-Id": opened.headers.get("Mcp-Session-Id") ?? "" };
  const setLevel = { jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "loud" } };
  const answer = await send("POST", demo.url, setLevel, headers);
  assert.match(JSON.stringify(answer), new RegExp(`allowed are ${LoggingLevelSchema.options.join(", ")}"`));
});

test("Header names are those of the transports", async () => {
  await using demo = await startDemoHttp();
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "n", version: "0" } },
  };
  const opened = await send("POST", demo.url, initialize);
  const id = opened.headers.get("Mcp-Session-Id") ?? "";
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  const headers = { "MCP-Session-Id": id, "MCP-Protocol-Version": "2025-11-25" };
  assert.equal((await send("POST", demo.url, ping, headers)).status, 200);
  const stream = await send("GET", demo.url, undefined, { ...headers, "Last-Event-ID": "1-1" });
  assert.equal(stream.type, "text/event-stream");
  stream.close();
  const modern = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "mirror",
    "Mcp-Param-Region": "eu",
  };
  const call = callOf(1, "mirror", { region: "eu" }, modernMeta());
  const answer = await send("POST", demo.url, call, modern);
  assert.equal(answer.status, 200);
});

/** An input schema and its annotations: headers with their paths, or the reason why the tool is refused. */
const schemas: [schema: unknown, expected: { [header: string]: string } | RegExp][] = [
  [{}, {}],
  [{ type: "object", properties: { a: { type: "string" } } }, {}],
  [{ properties: { a: { type: "string", "x-mcp-header": "Region" } } }, { "mcp-param-region": "a" }],
  [
    { properties: { a: { properties: { b: { type: "integer", "x-mcp-header": "L" } } } } },
    { "mcp-param-l": "a.b" },
  ],
  [
    { properties: { "x-mcp-header": { type: "boolean", "x-mcp-header": "!#$%&'*+.^_`|~-" } } },
    { "mcp-param-!#$%&'*+.^_`|~-": "x-mcp-header" },
  ],
  [{ properties: { properties: { type: "string", "x-mcp-header": "P" } } }, { "mcp-param-p": "properties" }],
  // Data that looks like an annotation is not one.
  [
    { default: { "x-mcp-header": "no" }, enum: [{ "x-mcp-header": 1 }], examples: [{ "x-mcp-header": "" }] },
    {},
  ],
  [{ properties: { a: { type: "string", "x-mcp-header": "" } } }, /is not a header name/],
  [{ properties: { a: { type: "string", "x-mcp-header": "a b" } } }, /is not a header name/],
  [{ properties: { a: { type: "string", "x-mcp-header": "a\r\nSet-Cookie: b" } } }, /is not a header name/],
  [{ properties: { a: { type: "string", "x-mcp-header": "é" } } }, /is not a header name/],
  [{ properties: { a: { type: "string", "x-mcp-header": 7 } } }, /is not a header name/],
  [{ properties: { a: { type: "number", "x-mcp-header": "A" } } }, /needs type string, integer or boolean/],
  [{ properties: { a: { type: "object", "x-mcp-header": "A" } } }, /needs type/],
  [{ properties: { a: { type: ["string", "null"], "x-mcp-header": "A" } } }, /needs type/],
  [{ properties: { a: { "x-mcp-header": "A" } } }, /needs type/],
  [
    {
      properties: {
        a: { type: "string", "x-mcp-header": "Same" },
        b: { type: "string", "x-mcp-header": "SAME" },
      },
    },
    /"SAME" is used twice/,
  ],
  [{ "x-mcp-header": "Root", type: "string" }, /"\(root\)" is not reachable/],
  ...([
    "items",
    "additionalProperties",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
  ].map((keyword) => [
    { properties: { a: { [keyword]: { type: "string", "x-mcp-header": "A" } } } },
    /not reachable by "properties" alone/,
  ]) as [unknown, RegExp][]),
  ...(["oneOf", "anyOf", "allOf", "prefixItems"].map((keyword) => [
    { [keyword]: [{}, { properties: { a: { type: "string", "x-mcp-header": "A" } } }] },
    /not reachable/,
  ]) as [unknown, RegExp][]),
  ...(["$defs", "definitions", "patternProperties", "dependentSchemas"].map((keyword) => [
    { [keyword]: { any: { properties: { a: { type: "string", "x-mcp-header": "A" } } } } },
    /not reachable/,
  ]) as [unknown, RegExp][]),
];

test("Annotated parameters are found, and annotations that are not allowed are refused", () => {
  for (const [schema, expected] of schemas) {
    const found = mirroredParametersOf(schema as never);
    // The second result comes from the cache.
    assert.equal(mirroredParametersOf(schema as never), found);
    const what = JSON.stringify(schema);
    if (expected instanceof RegExp) {
      assert.equal(found.kind, "invalid", what);
      assert.match(found.kind === "invalid" ? found.reason : "", expected, what);
      continue;
    }
    assert.equal(found.kind, "parameters", what);
    const parameters = found.kind === "parameters" ? found.parameters : [];
    assert.deepEqual(
      Object.fromEntries(parameters.map(({ header, path }) => [header, path.join(".")])),
      expected,
      what,
    );
  }
});
