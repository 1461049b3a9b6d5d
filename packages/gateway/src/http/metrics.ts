/**
 * Numbers for Prometheus. Calls are counted as they happen; everything that the
 * gateway knows anyway (servers, tools, sessions) is read when somebody asks.
 *
 * Own registry: two gateways in one process do not share numbers. No timer and
 * no observer: prom-client's default metrics install both and cannot be
 * stopped, so the few process metrics that matter are read here on demand.
 * Labels are server ids and fixed words, never anything that a client sends.
 */

import { readdirSync } from "node:fs";
import { Counter, Gauge, type Metric, Registry } from "prom-client";
import type { GatewayStatus } from "../gateway.ts";
import { sourcesOf } from "../sources/source-roster.ts";

/** How a call that was started ended. */
export type FinishedOutcome = "ok" | "tool_error" | "failed" | "cancelled";

/** The gateway's numbers. */
export interface Metrics {
  /** A call is under way. */
  callStarted(): void;
  /** A started call ended. @param server id of its server, or the origin of a tool without one. */
  callFinished(server: string, outcome: FinishedOutcome, seconds: number): void;
  /** A call was refused before it started. */
  callDenied(server: string): void;
  /** Audit events were written. */
  auditEvents(count: number): void;
  /** The front door refused a request. @param code one of this package's codes. */
  requestRefused(code: string): void;
  /** Exposes all metrics in Prometheus' text format. */
  expose(status: GatewayStatus): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Most servers that get a label of their own; calls of more are counted as `other`. */
const maxServerLabels = 1000;

/** From half a millisecond, which is a local echo, to the longest deadline that is common. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/**
 * Create a registry with all metrics of a gateway.
 *
 * @param processStartedAt milliseconds since the epoch; without it the process's start is not told.
 */
export function createMetrics(processStartedAt?: number): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const servers = new Map<string, ServerNumbers>();
  new Counter({
    name: "toolcrib_calls_total",
    help: "Calls by server and outcome.",
    labelNames: ["server", "outcome"] as const,
    registers,
    collect() {
      this.reset();
      for (const [server, { counts }] of servers) {
        for (const [outcome, count] of Object.entries(counts))
          if (count > 0) this.inc({ server, outcome }, count);
      }
    },
  });
  registry.registerMetric(durationMetric(servers));
  let auditEvents = 0;
  new Counter({
    name: "toolcrib_audit_events_total",
    help: "Audit events written.",
    registers,
    collect() {
      this.reset();
      this.inc(auditEvents);
    },
  });
  const refused = new Counter({
    name: "toolcrib_http_refused_total",
    help: "HTTP requests that the front door refused, by error code.",
    labelNames: ["code"] as const,
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: "toolcrib_calls_in_flight",
    help: "Calls under way.",
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  const setStatus = createStatusMetrics(registry);
  createProcessMetrics(registry, processStartedAt);

  const numbersOf = (server: string): ServerNumbers => {
    const label = servers.has(server) || servers.size < maxServerLabels ? server : "other";
    let numbers = servers.get(label);
    if (numbers === undefined) {
      numbers = {
        counts: { ok: 0, tool_error: 0, failed: 0, cancelled: 0, denied: 0 },
        buckets: new Float64Array(durationBuckets.length),
        seconds: 0,
        count: 0,
      };
      servers.set(label, numbers);
    }
    return numbers;
  };

  return {
    callStarted() {
      inFlight += 1;
    },
    callFinished(server, outcome, seconds) {
      inFlight -= 1;
      const numbers = numbersOf(server);
      numbers.counts[outcome] += 1;
      numbers.seconds += seconds;
      numbers.count += 1;
      const bucket = durationBuckets.findIndex((upper) => seconds <= upper);
      if (bucket !== -1) numbers.buckets[bucket]! += 1;
    },
    callDenied(server) {
      numbersOf(server).counts.denied += 1;
    },
    auditEvents(count) {
      auditEvents += count;
    },
    requestRefused(code) {
      refused.inc({ code });
    },
    async expose(status) {
      setStatus(status);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/**
 * What is counted of one server, as plain numbers: calls are too many for the
 * labels to be looked up each time, and a scrape is seldom.
 */
interface ServerNumbers {
  readonly counts: { [Outcome in FinishedOutcome | "denied"]: number };
  /** Calls by the first bucket that holds their duration; longer ones are in `count` only. */
  readonly buckets: Float64Array;
  seconds: number;
  count: number;
}

/** The histogram of durations, made of the numbers when it is read. */
function durationMetric(servers: ReadonlyMap<string, ServerNumbers>): Metric {
  const name = "toolcrib_call_duration_seconds";
  const help = "Time from a call's start to its end, in seconds.";
  const valuesOf = ([server, { buckets, seconds, count }]: [string, ServerNumbers]) => {
    if (count === 0) return [];
    let sum = 0;
    const upTo = durationBuckets.map((le, at) => {
      sum += buckets[at] as number;
      return { metricName: `${name}_bucket`, labels: { le, server }, value: sum };
    });
    return [
      ...upTo,
      { metricName: `${name}_bucket`, labels: { le: "+Inf", server }, value: count },
      { metricName: `${name}_sum`, labels: { server }, value: seconds },
      { metricName: `${name}_count`, labels: { server }, value: count },
    ];
  };
  const get = async () => ({
    name,
    help,
    type: "histogram",
    aggregator: "sum",
    values: [...servers].flatMap(valuesOf),
  });
  // The registry asks a metric for its name and its values and for nothing else.
  return { name, get } as unknown as Metric;
}

function createStatusMetrics(registry: Registry): (status: GatewayStatus) => void {
  const registers = [registry];
  const sessions = new Gauge({ name: "toolcrib_sessions", help: "Open client sessions.", registers });
  const tools = new Gauge({ name: "toolcrib_tools", help: "Tools in the index.", registers });
  const quarantined = new Gauge({
    name: "toolcrib_tools_quarantined",
    help: "Tools that are held back from clients.",
    registers,
  });
  const up = new Gauge({
    name: "toolcrib_upstream_up",
    help: "1 while calls to the server or toolspec can succeed, else 0.",
    labelNames: ["server"] as const,
    registers,
  });
  const restarts = new Counter({
    name: "toolcrib_upstream_restarts_total",
    help: "Times that the server was started again.",
    labelNames: ["server"] as const,
    registers,
  });
  return (status) => {
    sessions.set(status.sessions);
    tools.set(status.tools);
    quarantined.set(status.quarantined.length);
    up.reset();
    restarts.reset();
    for (const source of sourcesOf(status).slice(0, maxServerLabels)) {
      up.set({ server: source.id }, source.health.state === "ready" ? 1 : 0);
      if (source.restarts !== undefined) restarts.inc({ server: source.id }, source.restarts);
    }
  };
}

/** Names and meanings as in Prometheus' client library guidelines. */
function createProcessMetrics(registry: Registry, startedAt: number | undefined): void {
  const registers = [registry];
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent, in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory, in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "nodejs_heap_size_used_bytes",
    help: "Memory of JavaScript objects, in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  if (startedAt !== undefined) {
    new Gauge({
      name: "process_start_time_seconds",
      help: "Start of the process, in seconds since the epoch.",
      registers,
    }).set(startedAt / 1000);
  }
  new Gauge({
    name: "nodejs_eventloop_utilization_ratio",
    help: "Share of its life that the event loop was busy.",
    registers,
    collect() {
      this.set(performance.eventLoopUtilization().utilization);
    },
  });
  if (process.platform !== "linux") return;
  new Gauge({
    name: "process_open_fds",
    help: "Open file descriptors.",
    registers,
    collect() {
      this.set(readdirSync("/proc/self/fd").length);
    },
  });
}
