import assert from "node:assert/strict";
import { test } from "node:test";
import { GatewayMetrics } from "@toolcrib/http";

const status = {
  version: "0.1.0",
  startedAt: "2026-11-22T00:00:00.000Z",
  servers: [],
  toolspecs: [],
  tools: 5,
  sessions: 3,
  callsInFlight: 0,
  ownTools: 3,
  idleRules: [],
  pauses: [],
  limits: [],
  anchors: [],
  waiting: [],
  quarantined: [{ id: "a:b", reason: "collision", since: "2026-11-22T00:00:00.000Z" }],
};

test("calls are counted by server and outcome", async () => {
  const metrics = new GatewayMetrics();
  for (let index = 0; index < 3; index += 1) metrics.callStarted();
  metrics.callFinished("files", "ok", 0.002);
  metrics.callFinished("files", "tool_error", 0.3);
  metrics.callDenied("web");
  metrics.auditEvents(4);
  const { text } = metrics.expose(status);
  const check = (line: string) => assert.ok(text.split("\n").includes(line), `${line}\nin\n${text}`);
  check('toolcrib_calls_total{server="files",outcome="ok"} 1');
  check('toolcrib_calls_total{server="files",outcome="tool_error"} 1');
  check('toolcrib_calls_total{server="web",outcome="denied"} 1');
  check("toolcrib_calls_in_flight 1");
  check('toolcrib_call_duration_seconds_bucket{le="0.0025",server="files"} 1');
  check('toolcrib_call_duration_seconds_bucket{le="0.5",server="files"} 2');
  check('toolcrib_call_duration_seconds_count{server="files"} 2');
  check("toolcrib_audit_events_total 4");
  check("toolcrib_sessions 3");
  check("toolcrib_tools 5");
  check("toolcrib_tools_quarantined 1");
});

test("metrics include the process, and leave no timer running", async () => {
  const before = process.getActiveResourcesInfo().length;
  const { text } = new GatewayMetrics().expose(status);
  for (const name of [
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "nodejs_heap_size_used_bytes",
  ]) {
    assert.match(text, new RegExp(`^${name} [0-9.e+]+$`, "m"));
  }
  assert.equal(process.getActiveResourcesInfo().length, before);
});

test("two gateways in one process do not share metrics", async () => {
  const [one, two] = [new GatewayMetrics(), new GatewayMetrics()];
  one.callDenied("files");
  assert.doesNotMatch(two.expose(status).text, /files/);
});

test("a removed server disappears from the gauges, and its calls remain counted", async () => {
  const metrics = new GatewayMetrics();
  const server = { id: "files", health: { state: "ready" }, restarts: 1 };
  metrics.callDenied("files");
  assert.match(
    metrics.expose({ ...status, servers: [server] }).text,
    /upstream_restarts_total\{server="files"\} 1/,
  );
  const { text } = metrics.expose(status);
  assert.doesNotMatch(text, /upstream_(up|restarts_total)\{/);
  assert.match(text, /calls_total\{server="files",outcome="denied"\} 1/);
});

test("the number of labels is limited", async () => {
  const metrics = new GatewayMetrics();
  for (let index = 0; index < 1500; index += 1) metrics.callDenied(`server-${index}`);
  metrics.callDenied("server-0");
  const { text } = metrics.expose(status);
  assert.equal(text.split("\n").filter((line) => line.startsWith("toolcrib_calls_total{")).length, 1001);
  assert.match(text, /^toolcrib_calls_total\{server="other",outcome="denied"\} 500$/m);
  assert.match(text, /^toolcrib_calls_total\{server="server-0",outcome="denied"\} 2$/m);
});

test("the text has the Prometheus format, with hostile labels escaped", () => {
  const metrics = new GatewayMetrics(0);
  const hostile = 'a"b\\c\nd';
  metrics.callStarted();
  metrics.callFinished(hostile, "ok", 0.002);
  metrics.requestRefused("HTTP_HOST_REFUSED");
  const { text, contentType } = metrics.expose(status);
  assert.equal(contentType, "text/plain; version=0.0.4; charset=utf-8");
  assert.ok(text.endsWith("\n"));
  const label = '[a-z]+="(?:[^"\\\\\n]|\\\\["\\\\n])*"';
  const sample = new RegExp(`^[a-z_]+(?:\\{${label}(?:,${label})*\\})? (?:[-+0-9.e]+|NaN|[+-]Inf)$`);
  const described = new Set<string>();
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const type = /^# TYPE ([a-z_]+) (?:counter|gauge|histogram)$/.exec(line)?.[1];
    if (type !== undefined) described.add(type);
    else if (!/^# HELP [a-z_]+ \S/.test(line)) {
      assert.match(line, sample);
      const name = /^[a-z_]+/.exec(line)?.[0].replace(/_(?:bucket|sum|count)$/, "") ?? "";
      assert.ok(described.has(name), `"${line}" has no TYPE line before it`);
    }
  }
  assert.ok(text.includes('server="a\\"b\\\\c\\nd"'));
});
