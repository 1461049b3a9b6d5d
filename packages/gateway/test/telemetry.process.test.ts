/** The telemetry of a gateway, as a collector receives it: the tree of calls, its figures and its records. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { JsonObject } from "@toolcrib/json";
import { type OtlpCollector, startOtlpCollector } from "@toolcrib/testing";
import {
  echoStdio,
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  toolNamed,
} from "./gateway-harness.ts";
import { logsOf, pointsOf, type ReceivedSpan, spansOf } from "./telemetry-spans.ts";

const serverKind = 2;
const clientKind = 3;
const errorStatus = 2;

/** The section `telemetry` for `collector`; metrics are sent at the end only. */
function telemetryTo({ url }: OtlpCollector, more: JsonObject = {}, otlp: JsonObject = {}): JsonObject {
  const to = { endpoint: url, protocol: "http/json", ...otlp };
  return { otlp: to, metrics_interval_seconds: 3600, ...more };
}

/** A server that keeps `_meta` of its calls; the tool `slow` takes 20 ms, and `break` fails. */
async function startRecorder(...names: readonly string[]) {
  const metas: unknown[] = [];
  const server: ScriptedServer = await startScriptedServer({
    tools: () => names.map((name) => toolNamed(name)),
    resources: () => [{ uri: "file:///planted-uri", name: "r" }],
    prompts: () => [{ name: "ask" }],
    async call({ params }, name) {
      metas.push(params["_meta"]);
      if (name === "slow") await new Promise((resolve) => setTimeout(resolve, 20));
      if (name === "break") return { content: [{ type: "text", text: "planted-error" }], isError: true };
      return { content: [{ type: "text", text: "planted-result" }] };
    },
    other({ method, params }) {
      if (method === "resources/read") {
        metas.push(params["_meta"]);
        return { contents: [{ uri: "file:///planted-uri", text: "planted-result" }] };
      }
      return method === "prompts/get" ? { messages: [] } : undefined;
    },
  });
  return { server, metas };
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, `${name} in ${spans.map((span) => span.name).join(", ")}`);
  return found[0] as ReceivedSpan;
}

const callTool = (client: Client, name: string, given: JsonObject = {}, meta: JsonObject = {}) =>
  client.callTool({ name, arguments: given, _meta: meta });

const parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentSpan = "00f067aa0ba902b7";
const traceparent = `00-${parentTrace}-${parentSpan}-01`;

describe("the spans of calls", () => {
  it("are the tree of a composite, with its client as the parent", async () => {
    await using collector = await startOtlpCollector();
    const { server, metas } = await startRecorder("slow", "break");
    await using _server = server;
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url), echoStdio("echo")],
      telemetry: telemetryTo(collector, { resource_attributes: { "deployment.environment.name": "test" } }),
    });
    const client = await test.connect();
    const code = 's.slow(word="planted-argument")\nreturn echo.echo(text="planted-argument")';
    await callTool(
      client,
      "eval_starlark",
      { code },
      { traceparent, tracestate: "vendor=1", baggage: "k=v" },
    );
    await test.stop();

    const spans = spansOf(collector);
    const root = named(spans, "tools/call eval_starlark");
    const slow = named(spans, "tools/call s__slow");
    const echo = named(spans, "tools/call echo__echo");
    assert.deepEqual([root.parentSpanId, root.kind, root.traceState], [parentSpan, serverKind, "vendor=1"]);
    for (const inner of [slow, echo]) {
      assert.deepEqual([inner.parentSpanId, inner.kind], [root.spanId, clientKind]);
      assert.ok(BigInt(inner.startTimeUnixNano) >= BigInt(root.startTimeUnixNano));
      assert.ok(BigInt(inner.endTimeUnixNano) <= BigInt(root.endTimeUnixNano));
      assert.equal(inner.attributes["toolcrib.parent_id"], root.attributes["toolcrib.call_id"]);
    }
    const lasted = BigInt(slow.endTimeUnixNano) - BigInt(slow.startTimeUnixNano);
    assert.ok(lasted >= 19_000_000n, `${lasted}`);
    assert.deepEqual(new Set(spans.map(({ traceId }) => traceId)), new Set([parentTrace]));
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, 3);
    assert.deepEqual(metas, [
      { traceparent: `00-${parentTrace}-${slow.spanId}-01`, tracestate: "vendor=1", baggage: "k=v" },
    ]);
    assert.deepEqual(
      { ...slow.attributes, "toolcrib.call_id": "", "toolcrib.parent_id": "", "mcp.session.id": "" },
      {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "s__slow",
        "mcp.session.id": "",
        "toolcrib.call_id": "",
        "toolcrib.parent_id": "",
        "toolcrib.depth": 1,
        "toolcrib.origin": "server",
        "toolcrib.client": "anonymous",
        "toolcrib.tool": "s:slow",
        "toolcrib.server": "s",
        "toolcrib.decision": "allow",
        "toolcrib.rule": slow.attributes["toolcrib.rule"],
        "toolcrib.containment": "deadline",
        "toolcrib.result_bytes": slow.attributes["toolcrib.result_bytes"],
        "toolcrib.outcome": "ok",
      },
    );
    assert.deepEqual(
      [
        root.resource["service.name"],
        root.resource["service.version"],
        root.resource["deployment.environment.name"],
      ],
      ["toolcrib", "0.0.1", "test"],
    );
  });

  it("have an error type where a call is denied, invalid, or failed, and no text of the error", async () => {
    await using collector = await startOtlpCollector();
    const { server } = await startRecorder("get", "break");
    await using _server = server;
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url)],
      policy: { deny: ["s:get"] },
      telemetry: telemetryTo(collector),
    });
    const client = await test.connect();
    await callTool(client, "s__get", { word: "planted-argument" }).catch(() => {});
    await callTool(client, "s__break");
    await callTool(client, "search_tools", { query: 1 });
    await test.stop();

    const spans = spansOf(collector);
    const check = (name: string, outcome: string, errorType: string, decision: string) => {
      const { status, attributes } = named(spans, `tools/call ${name}`);
      assert.deepEqual(status, { code: errorStatus });
      const { "toolcrib.outcome": o, "error.type": e, "toolcrib.decision": d } = attributes;
      assert.deepEqual([o, e, d], [outcome, errorType, decision]);
    };
    check("s__get", "denied", "POLICY_DENIED", "deny");
    check("s__break", "tool_error", "tool_error", "allow");
    check("search_tools", "tool_error", "ARGUMENTS_INVALID", "allow");
    assert.equal(named(spans, "tools/call s__get").attributes["toolcrib.rule"], "policy.deny[0]");
  });

  it("take their parent from the HTTP request where the call names none, and link it where it does", async () => {
    await using collector = await startOtlpCollector();
    await using test = await startTestGateway({
      tool_servers: [echoStdio("echo")],
      telemetry: telemetryTo(collector),
    });
    const url = await test.endpoint();
    const post = (meta: JsonObject, id: string) =>
      fetch(url, {
        method: "POST",
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "echo__echo",
          traceparent: `00-${parentTrace}-${id}-01`,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "echo__echo",
            arguments: { text: "x" },
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": {},
              ...meta,
            },
          },
        }),
      }).then((response) => response.text());
    await post({}, "1111111111111111");
    await post({ traceparent }, "2222222222222222");
    await post({ traceparent: "00-nonsense" }, "3333333333333333");
    // A legacy session has its messages in several requests.
    const client = await test.connect();
    await callTool(client, "echo__echo", { text: "x" });
    await test.stop();

    const spans = spansOf(collector);
    assert.deepEqual(
      spans.map(({ parentSpanId, links = [] }) => [parentSpanId, links.map(({ spanId }) => spanId)]),
      [
        ["1111111111111111", []],
        [parentSpan, ["2222222222222222"]],
        ["3333333333333333", []],
        [undefined, []],
      ],
    );
  });

  it("are not sent for traces that the client did not sample, and for the share that is left out", async () => {
    await using collector = await startOtlpCollector();
    const { server, metas } = await startRecorder("get");
    await using _server = server;
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url)],
      telemetry: telemetryTo(collector, { sample_ratio: 0 }),
    });
    const client = await test.connect();
    await callTool(client, "s__get");
    await callTool(client, "s__get", {}, { traceparent: `00-${parentTrace}-${parentSpan}-00` });
    await callTool(client, "s__get", {}, { traceparent });
    await test.stop();

    const [span, ...others] = spansOf(collector);
    assert.deepEqual([span?.parentSpanId, others.length], [parentSpan, 0]);
    const flags = metas.map((meta) => String((meta as JsonObject)["traceparent"]).slice(-2));
    assert.deepEqual(flags, ["00", "00", "01"]);
    // All calls are counted.
    assert.equal(pointsOf(collector, "toolcrib.calls")[0]?.value, 3);
  });

  it("name prompts, and no URI of a resource", async () => {
    await using collector = await startOtlpCollector();
    const { server, metas } = await startRecorder("get");
    await using _server = server;
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url)],
      telemetry: telemetryTo(collector),
    });
    const client = await test.connect();
    await client.readResource({ uri: "file:///planted-uri" });
    await client.getPrompt({ name: "s__ask" });
    await test.stop();

    const spans = spansOf(collector);
    assert.equal(named(spans, "prompts/get ask").attributes["gen_ai.prompt.name"], "ask");
    const read = named(spans, "resources/read");
    assert.deepEqual(
      [
        read.attributes["mcp.method.name"],
        read.attributes["toolcrib.tool"],
        read.attributes["toolcrib.server"],
      ],
      ["resources/read", undefined, "s"],
    );
    assert.equal(metas.length, 1);
    assert.equal((metas[0] as JsonObject)["traceparent"], `00-${read.traceId}-${read.spanId}-01`);
    for (const { body } of collector.requests) assert.ok(!body.includes("planted"), body.toString());
  });
});

describe("the metrics of calls", () => {
  it("are the figures of /metrics, by server and tool", async () => {
    await using collector = await startOtlpCollector();
    const { server } = await startRecorder("get", "break", "secret");
    await using _server = server;
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url)],
      policy: { deny: ["s:secret"] },
      telemetry: telemetryTo(collector, { traces: false }),
    });
    const client = await test.connect();
    for (let call = 0; call < 3; call += 1) await callTool(client, "s__get");
    await callTool(client, "s__break");
    await callTool(client, "s__secret").catch(() => {});
    await callTool(client, "call_tool", { name: "s__get", arguments: {} });
    const metricsUrl = new URL("/metrics", await test.endpoint());
    const prometheus = await (await fetch(metricsUrl)).text();
    await test.stop();

    assert.deepEqual(
      collector.requests.map(({ path }) => path),
      ["/v1/metrics"],
    );
    const calls = pointsOf(collector, "toolcrib.calls").map(({ attributes, value }) => [
      attributes["toolcrib.server"],
      attributes["gen_ai.tool.name"],
      attributes["toolcrib.outcome"],
      attributes["error.type"],
      value,
    ]);
    assert.deepEqual(calls.sort(), [
      ["meta", "call_tool", "ok", undefined, 1],
      ["s", "s__break", "tool_error", "tool_error", 1],
      ["s", "s__get", "ok", undefined, 4],
      ["s", "s__secret", "denied", "POLICY_DENIED", 1],
    ]);
    for (const line of ['outcome="ok"} 4', 'outcome="tool_error"} 1', 'outcome="denied"} 1']) {
      assert.ok(prometheus.includes(`toolcrib_calls_total{server="s",${line}`), prometheus);
    }
    const durations = pointsOf(collector, "toolcrib.call.duration");
    const ofServer = durations.filter(({ attributes }) => attributes["toolcrib.server"] === "s");
    const sum = ofServer.reduce((total, { value }) => total + value, 0);
    assert.match(prometheus, /toolcrib_call_duration_seconds_count\{server="s"\} 5/);
    const [, exposed] = /toolcrib_call_duration_seconds_sum\{server="s"\} (\S+)/.exec(prometheus) ?? [];
    assert.ok(Math.abs(sum - Number(exposed)) < 1e-9, `${sum} ${exposed}`);
    // The conventions of MCP are about requests of clients.
    const operations = pointsOf(collector, "mcp.server.operation.duration");
    const got = operations.find(({ attributes }) => attributes["gen_ai.tool.name"] === "s__get");
    assert.equal(Number(got?.count), 3);
    assert.deepEqual(got?.bounds, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
    assert.ok(pointsOf(collector, "toolcrib.calls.in_flight").every(({ value }) => value === 0));
    assert.match(prometheus, /toolcrib_telemetry_dropped_total\{signal="metrics"\} 0/);
  });
});

describe("the records of the audit trail", () => {
  it("are sent as the trail stores them, with the span of their call", async () => {
    await using collector = await startOtlpCollector();
    await using test = await startTestGateway({
      tool_servers: [echoStdio("echo")],
      telemetry: telemetryTo(collector, { metrics: false, logs: true }),
    });
    const client = await test.connect();
    await callTool(client, "echo__echo", { text: "shown-argument" });
    await test.stop();

    const stored = test.audit();
    const logs = logsOf(collector);
    assert.deepEqual(
      logs.map(({ eventName, attributes }) => [eventName, attributes["toolcrib.sequence"]]),
      stored.map(({ type, sequence }) => [type, Number(sequence)]),
    );
    assert.ok(logs.length > 3);
    const [span] = spansOf(collector);
    const ofCall = logs.filter(({ eventName }) => eventName.startsWith("call."));
    assert.equal(ofCall.length, 2);
    for (const { traceId, spanId } of ofCall)
      assert.deepEqual([traceId, spanId], [span?.traceId, span?.spanId]);
    assert.match(JSON.stringify(ofCall[0]?.body), /shown-argument/);
  });
});

describe("what is sent", () => {
  it("contains no secret and no argument or result, apart from records", async () => {
    await using collector = await startOtlpCollector();
    const { server } = await startRecorder("get", "break", "planted-collector-key");
    await using _server = server;
    const environment = { COLLECTOR_KEY: "planted-collector-key", ECHO_KEY: "planted-echo-secret" };
    await using test = await startTestGateway(
      {
        tool_servers: [
          onHttp("s", server.url),
          {
            ...echoStdio("echo"),
            transport: {
              ...(echoStdio("echo")["transport"] as JsonObject),
              env: { ECHO_KEY: { secret_key_ref: { env: "ECHO_KEY" } } },
            },
          },
        ],
        telemetry: telemetryTo(
          collector,
          { logs: true },
          {
            headers: {
              authorization: { prefix: "Bearer ", secret_key_ref: { env: "COLLECTOR_KEY" } },
              "x-tenant": "team-a",
            },
          },
        ),
      },
      { environment },
    );
    const client = await test.connect();
    await callTool(client, "echo__echo", { text: "planted-echo-secret planted-argument" });
    await callTool(client, "s__get", { token: "planted-echo-secret" });
    await callTool(client, "s__break");
    await client.readResource({ uri: "file:///planted-uri" });
    await test.stop();

    assert.deepEqual([...new Set(collector.requests.map(({ path }) => path))].sort(), [
      "/v1/logs",
      "/v1/metrics",
      "/v1/traces",
    ]);
    for (const { path, headers, body } of collector.requests) {
      assert.equal(headers.authorization, "Bearer planted-collector-key");
      assert.equal(headers["x-tenant"], "team-a");
      const planted = body.toString("utf8").match(/planted[a-z-]*/g) ?? [];
      // Records show arguments, and URIs as the ids of resources.
      const allowed = path === "/v1/logs" ? ["planted-argument", "planted-uri"] : [];
      assert.deepEqual(
        planted.filter((word) => !allowed.includes(word)),
        [],
        path,
      );
      assert.ok(!body.includes(String(test.home)), "no path of the machine");
    }
    const [sessionId] = spansOf(collector).map(({ attributes }) => attributes["mcp.session.id"]);
    assert.match(String(sessionId), /^[0-9a-f]{32}$/);
  });

  it("is nothing without the section, and nothing with OTEL_SDK_DISABLED", async () => {
    await using collector = await startOtlpCollector();
    const { server, metas } = await startRecorder("get");
    await using _server = server;
    for (const telemetry of [undefined, telemetryTo(collector)]) {
      await using test = await startTestGateway(
        { tool_servers: [onHttp("s", server.url)], ...(telemetry === undefined ? {} : { telemetry }) },
        {
          environment: {
            OTEL_SDK_DISABLED: "true",
            OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
            OTEL_TRACES_EXPORTER: "otlp",
          },
        },
      );
      const client = await test.connect();
      await callTool(client, "s__get", {}, { traceparent, tracestate: "vendor=1" });
      assert.equal(test.gateway.status().telemetry, undefined);
    }
    assert.deepEqual(collector.requests, []);
    // A client's trace is passed on as it is.
    assert.deepEqual(metas, [
      { traceparent, tracestate: "vendor=1" },
      { traceparent, tracestate: "vendor=1" },
    ]);
  });
});
