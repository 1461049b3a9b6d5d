/**
 * Metrics of a gateway for Prometheus. Calls are counted as they happen, in
 * plain numbers; servers, tools, sessions and the process are read at a scrape.
 *
 * Two gateways in one process share no numbers. There is no timer and no
 * observer. Labels are server ids and fixed words, never input of a client.
 */

import { readdirSync } from "node:fs";
import { expositionType, type Metric, type Sample, writeExposition } from "./exposition.ts";

/** The outcome of a call that was started. */
export type FinishedOutcome = "ok" | "tool_error" | "failed" | "cancelled";

/** A configured source in the status of a gateway. */
interface MeasuredSource {
  readonly id: string;
  readonly health: { readonly state: string };
  /** Connections after the first; absent for sources without connections. */
  readonly restarts?: number;
}

/** The part of the status of a gateway that metrics are made from. */
export interface MeasuredStatus {
  readonly servers: readonly MeasuredSource[];
  readonly toolspecs: readonly MeasuredSource[];
  readonly tools: number;
  readonly sessions: number;
  readonly quarantined: readonly unknown[];
  /** The tasks that are kept, the bytes of their results, and the calls that were refused because all are in use. */
  readonly tasks?:
    | {
        readonly running: number;
        readonly asking: number;
        readonly ended: number;
        readonly resultBytes: number;
        readonly refused: number;
      }
    | undefined;
  /** The pauses of the operator. */
  readonly pauses: readonly { readonly kind: string }[];
  readonly pausesProblem?: string;
  /** The use of each limit. */
  readonly limits: readonly { readonly name: string; readonly refused: number; readonly usedRatio: number }[];
  /** Estimated tokens of the lists that clients received, of those that these saved, and of results that were cut off and not read. */
  readonly discovery?:
    | { readonly listedTokens: number; readonly savedTokens: number; readonly cutTokens: number }
    | undefined;
  /** The telemetry for a collector: numbers of each signal. */
  readonly telemetry?:
    | {
        readonly signals: readonly {
          readonly signal: string;
          readonly sent: number;
          readonly dropped: number;
          readonly pending: number;
        }[];
      }
    | undefined;
}

/** Maximum number of servers with a label of their own; calls of further ones count as `other`. */
const maxServerLabels = 1000;

/** Upper bounds in seconds, from a local echo to the longest common deadline. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** Numbers of one server. */
interface ServerNumbers {
  readonly counts: { [Outcome in FinishedOutcome | "denied"]: number };
  /** Calls by the first bucket that contains their duration; longer calls are in `count` only. */
  readonly buckets: Float64Array;
  /** Sum of durations. */
  seconds: number;
  count: number;
}

/** Counts calls, audit events and refused requests, and exposes them with the status of the gateway. */
export class GatewayMetrics {
  readonly #processStartedAt: number | undefined;
  readonly #servers = new Map<string, ServerNumbers>();
  readonly #refused = new Map<string, number>();
  #auditEvents = 0;
  #inFlight = 0;

  /** @param processStartedAt milliseconds since the epoch. @default the start of the process is not exposed */
  constructor(processStartedAt?: number) {
    this.#processStartedAt = processStartedAt;
  }

  /** Counts a call that starts. */
  callStarted(): void {
    this.#inFlight += 1;
  }

  /** Counts the end of a started call. @param server id of its server, or the origin of a tool without one */
  callFinished(server: string, outcome: FinishedOutcome, seconds: number): void {
    this.#inFlight -= 1;
    const numbers = this.#numbersOf(server);
    numbers.counts[outcome] += 1;
    numbers.seconds += seconds;
    numbers.count += 1;
    const bucket = durationBuckets.findIndex((upper) => seconds <= upper);
    if (bucket !== -1) numbers.buckets[bucket]! += 1;
  }

  /** Counts a call that was refused before it started. */
  callDenied(server: string): void {
    this.#numbersOf(server).counts.denied += 1;
  }

  /** Counts `count` written audit events. */
  auditEvents(count: number): void {
    this.#auditEvents += count;
  }

  /** Counts an HTTP request that was refused. @param code that of the refusal */
  requestRefused(code: string): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  /**
   * Returns the metrics in the text format of Prometheus.
   *
   * @param isShown whether the numbers of a server are included. @default all
   */
  expose(
    status: MeasuredStatus,
    isShown: (server: string) => boolean = () => true,
  ): { readonly contentType: string; readonly text: string } {
    const metrics = [
      ...this.#callMetrics(isShown),
      ...statusMetrics(status),
      ...processMetrics(this.#processStartedAt),
    ];
    return { contentType: expositionType, text: writeExposition(metrics) };
  }

  #callMetrics(isShown: (server: string) => boolean): Metric[] {
    const servers = [...this.#servers].filter(([server]) => isShown(server));
    return [
      {
        name: "toolcrib_calls_total",
        type: "counter",
        help: "Calls by server and outcome.",
        samples: servers.flatMap(([server, { counts }]) =>
          Object.entries(counts).flatMap(([outcome, value]) =>
            value > 0 ? [{ labels: { server, outcome }, value }] : [],
          ),
        ),
      },
      {
        name: "toolcrib_call_duration_seconds",
        type: "histogram",
        help: "Time from the start of a call to its end, in seconds.",
        samples: servers.flatMap(durationSamples),
      },
      single("toolcrib_audit_events_total", "counter", "Audit events written.", this.#auditEvents),
      {
        name: "toolcrib_http_refused_total",
        type: "counter",
        help: "HTTP requests that were refused, by error code.",
        samples: [...this.#refused].map(([code, value]) => ({ labels: { code }, value })),
      },
      single("toolcrib_calls_in_flight", "gauge", "Calls in flight.", this.#inFlight),
    ];
  }

  #numbersOf(server: string): ServerNumbers {
    const label = this.#servers.has(server) || this.#servers.size < maxServerLabels ? server : "other";
    let numbers = this.#servers.get(label);
    if (numbers === undefined) {
      numbers = {
        counts: { ok: 0, tool_error: 0, failed: 0, cancelled: 0, denied: 0 },
        buckets: new Float64Array(durationBuckets.length),
        seconds: 0,
        count: 0,
      };
      this.#servers.set(label, numbers);
    }
    return numbers;
  }
}

function durationSamples([server, { buckets, seconds, count }]: [string, ServerNumbers]): Sample[] {
  if (count === 0) return [];
  let sum = 0;
  const upTo = durationBuckets.map((upper, index): Sample => {
    sum += buckets[index] ?? 0;
    return { suffix: "_bucket", labels: { le: String(upper), server }, value: sum };
  });
  return [
    ...upTo,
    { suffix: "_bucket", labels: { le: "+Inf", server }, value: count },
    { suffix: "_sum", labels: { server }, value: seconds },
    { suffix: "_count", labels: { server }, value: count },
  ];
}

function statusMetrics(status: MeasuredStatus): Metric[] {
  const sources = [...status.servers, ...status.toolspecs].slice(0, maxServerLabels);
  return [
    single("toolcrib_sessions", "gauge", "Open client sessions.", status.sessions),
    single("toolcrib_tools", "gauge", "Tools in the index.", status.tools),
    single(
      "toolcrib_tools_quarantined",
      "gauge",
      "Tools that are withheld from clients.",
      status.quarantined.length,
    ),
    {
      name: "toolcrib_paused",
      type: "gauge",
      help: "Pauses of the operator, by what they stop; unreadable is 1 while every call is refused.",
      samples: [
        ...(["server", "tool", "client", "all"] as const).map((kind) => ({
          labels: { kind },
          value: status.pauses.filter((pause) => pause.kind === kind).length,
        })),
        { labels: { kind: "unreadable" }, value: status.pausesProblem === undefined ? 0 : 1 },
      ],
    },
    {
      name: "toolcrib_limit_refused_total",
      type: "counter",
      help: "Calls that a limit of guards.limits refused.",
      samples: status.limits.map(({ name, refused }) => ({ labels: { limit: name }, value: refused })),
    },
    {
      name: "toolcrib_limit_used_ratio",
      type: "gauge",
      help: "Largest share of the budget of a limit that was used in its hour or day.",
      samples: status.limits.map(({ name, usedRatio }) => ({ labels: { limit: name }, value: usedRatio })),
    },
    ...taskMetrics(status.tasks),
    ...discoveryMetrics(status.discovery),
    ...telemetryMetrics(status.telemetry?.signals ?? []),
    {
      name: "toolcrib_upstream_up",
      type: "gauge",
      help: "1 while calls to the server or toolspec can succeed, else 0.",
      samples: sources.map(({ id, health }) => ({
        labels: { server: id },
        value: health.state === "ready" || health.state === "idle" ? 1 : 0,
      })),
    },
    {
      name: "toolcrib_upstream_restarts_total",
      type: "counter",
      help: "Connections to the server after the first.",
      samples: sources.flatMap(({ id, restarts }) =>
        restarts === undefined ? [] : [{ labels: { server: id }, value: restarts }],
      ),
    },
  ];
}

function taskMetrics(tasks: MeasuredStatus["tasks"]): Metric[] {
  if (tasks === undefined) return [];
  const { running, asking, ended, resultBytes, refused } = tasks;
  return [
    {
      name: "toolcrib_tasks",
      type: "gauge",
      help: "Tasks that are kept, by state; asking ones wait for their client.",
      samples: [
        { labels: { state: "working" }, value: running - asking },
        { labels: { state: "asking" }, value: asking },
        { labels: { state: "ended" }, value: ended },
      ],
    },
    single("toolcrib_task_result_bytes", "gauge", "Bytes of the results of tasks.", resultBytes),
    single("toolcrib_tasks_refused_total", "counter", "Calls that a limit of tasks refused.", refused),
  ];
}

function discoveryMetrics(discovery: MeasuredStatus["discovery"]): Metric[] {
  if (discovery === undefined) return [];
  const { listedTokens, savedTokens, cutTokens } = discovery;
  return [
    single(
      "toolcrib_list_tokens_total",
      "counter",
      "Estimated tokens of the lists of tools that clients received.",
      listedTokens,
    ),
    single(
      "toolcrib_list_tokens_saved_total",
      "counter",
      "Estimated tokens that these lists would have had more in the mode full.",
      savedTokens,
    ),
    single(
      "toolcrib_result_tokens_cut",
      "gauge",
      "Estimated tokens of results that were cut off and not read later.",
      cutTokens,
    ),
  ];
}

function telemetryMetrics(signals: NonNullable<MeasuredStatus["telemetry"]>["signals"]): Metric[] {
  if (signals.length === 0) return [];
  const counted = (field: "sent" | "dropped" | "pending") =>
    signals.map((one) => ({ labels: { signal: one.signal }, value: one[field] }));
  return [
    {
      name: "toolcrib_telemetry_sent_total",
      type: "counter",
      help: "Spans, log records and exports of metrics that the collector accepted.",
      samples: counted("sent"),
    },
    {
      name: "toolcrib_telemetry_dropped_total",
      type: "counter",
      help: "Spans, log records and exports of metrics that were discarded.",
      samples: counted("dropped"),
    },
    {
      name: "toolcrib_telemetry_pending",
      type: "gauge",
      help: "Spans and log records that wait to be sent.",
      samples: counted("pending"),
    },
  ];
}

/** Names and meanings follow the guidelines for Prometheus client libraries. */
function processMetrics(startedAt: number | undefined): Metric[] {
  const { user, system } = process.cpuUsage();
  return [
    single(
      "process_cpu_seconds_total",
      "counter",
      "User and system CPU time spent, in seconds.",
      (user + system) / 1_000_000,
    ),
    single("process_resident_memory_bytes", "gauge", "Resident memory, in bytes.", process.memoryUsage.rss()),
    single(
      "nodejs_heap_size_used_bytes",
      "gauge",
      "Memory of JavaScript objects, in bytes.",
      process.memoryUsage().heapUsed,
    ),
    ...(startedAt === undefined
      ? []
      : [
          single(
            "process_start_time_seconds",
            "gauge",
            "Start of the process, in seconds since the epoch.",
            startedAt / 1000,
          ),
        ]),
    single(
      "nodejs_eventloop_utilization_ratio",
      "gauge",
      "Share of its lifetime that the event loop was busy.",
      performance.eventLoopUtilization().utilization,
    ),
    ...(process.platform === "linux"
      ? [single("process_open_fds", "gauge", "Open file descriptors.", readdirSync("/proc/self/fd").length)]
      : []),
  ];
}

/** A metric with one sample and no labels. */
function single(name: string, type: "counter" | "gauge", help: string, value: number): Metric {
  return { name, type, help, samples: [{ value }] };
}
