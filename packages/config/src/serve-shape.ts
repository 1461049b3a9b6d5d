/**
 * The section `serve`: the endpoint, the listing of tools, and the limits of one
 * gateway. Defines the finite default of every limit.
 */

import { choice, either, flag, integer, invalid, list, record, text, type ValueOf } from "@toolcrib/document";
import { listShape, modeShape, resultsShape } from "./discovery-shape.ts";
import { quote } from "./display-source.ts";
import { toolPatterns } from "./pattern-shape.ts";
import { serveOAuthShape } from "./serve-auth-shape.ts";

const hostName = {
  source: "(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?",
  meaning:
    "a host as clients send it, such as tools.example.com or tools.example.com:8443; wildcards are not allowed",
};
const originPattern = {
  source:
    "(?:https?|[a-z][a-z0-9+.-]*)://(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(?::[0-9]{1,5})?",
  meaning:
    "an origin as browsers send it, such as https://app.example.com, without a path; wildcards are not allowed",
};

const bytes = (description: string, fallback: number) =>
  integer({ description, minimum: 1024, maximum: 1024 ** 3, default: fallback });

/** Documented defaults of `serve`. */
export const serveDefaults = {
  listen: "127.0.0.1:7420",
  auth: "token",
  mode: "full",
  listWaitSeconds: 5,
  bodyMaxBytes: 4 * 1024 ** 2,
  resultMaxBytes: 16 * 1024 ** 2,
  maxSessions: 1000,
  sessionIdleSeconds: 3600,
  maxConcurrentCalls: 1024,
  maxCallsPerServer: 128,
  maxQueuedCallsPerServer: 256,
  maxTasks: 1000,
  taskResultsMaxBytes: 64 * 1024 ** 2,
  taskTtlSeconds: 3600,
  taskTtlMaxSeconds: 86_400,
} as const;

export const serveShape = record({
  description: "The endpoint.",
  hints: {
    port: "write listen: 127.0.0.1:PORT",
    host: "write listen: HOST:PORT",
    address: "did you mean listen?",
    bind: "did you mean listen?",
    token: "the configuration never contains a token: set TOOLCRIB_TOKEN",
    cors: "did you mean allowed_origins?",
  },
  fields: {
    listen: text({
      description: "Address and port. Port 0 takes a free one.",
      maxLength: 300,
      default: serveDefaults.listen,
      otherTypeHint: (node) =>
        node.kind === "scalar" && typeof node.value === "number" ? `write 127.0.0.1:${node.text}` : undefined,
      inspect(value, node, place) {
        if (parseListen(value) !== undefined) return;
        const port = /^:?([0-9]{1,5})$/.exec(value)?.[1];
        const hint = port === undefined ? "write 127.0.0.1:7420, or [::1]:7420" : `write 127.0.0.1:${port}`;
        invalid(node, place, `Cannot read serve.listen ${quote(value)}: it is an address and a port`, hint);
      },
    }),
    auth: either(
      (node) => node.kind !== "map",
      choice({
        description: "token: tokens of the home. none: no authentication, on loopback only.",
        values: ["token", "none"],
        hints: {
          jwt: "write auth: { resource: URL, jwt: [{ issuer: URL }] }",
          oauth: "write auth: { resource: URL, jwt: [{ issuer: URL }] }",
        },
        aliases: { bearer: "token", off: "none", no: "none", false: "none", disabled: "none", true: "token" },
        default: serveDefaults.auth,
      }),
      serveOAuthShape,
      "Authentication of clients. none is allowed on loopback only.",
    ),
    mode: modeShape(serveDefaults.mode),
    list: listShape,
    results: resultsShape,
    list_wait_seconds: integer({
      description:
        "Longest time that the first list or search of a client waits for servers that are starting, in seconds. A server that has not answered its handshake is waited for a fifth of it, or twice as long as the others took, unless the list would be empty. Later tools are announced with list_changed.",
      minimum: 0,
      maximum: 60,
      default: serveDefaults.listWaitSeconds,
    }),
    shared_home: flag(
      "Whether several gateways may use one home. false: a gateway does not start while another one of the home runs, and no other starts while it runs.",
      { default: true },
    ),
    tools: record({
      description: "Listing of single tools.",
      fields: {
        hidden: toolPatterns(
          "Tools that are never listed or found, Toolcrib's own included. Not access control: they can be called by name; use policy.deny.",
        ),
        pinned: toolPatterns("Tools that are listed in every mode."),
      },
    }),
    allowed_hosts: list(text({ description: "A host.", pattern: hostName, maxLength: 260 }), {
      description: "Accepted Host headers in addition to loopback names and the host of listen.",
      maxItems: 100,
    }),
    allowed_origins: list(text({ description: "An origin.", pattern: originPattern, maxLength: 300 }), {
      description: "Accepted Origin headers in addition to loopback.",
      maxItems: 100,
    }),
    limits: record({
      description: "Limits of one gateway.",
      name: "ServeLimits",
      fields: {
        body_max_bytes: bytes("Longest request body, in bytes.", serveDefaults.bodyMaxBytes),
        result_max_bytes: bytes("Longest result of a call, in bytes.", serveDefaults.resultMaxBytes),
        max_sessions: integer({
          description: "Most sessions at a time. One client gets at most half of them.",
          minimum: 1,
          maximum: 1_000_000,
          default: serveDefaults.maxSessions,
        }),
        session_idle_seconds: integer({
          description: "Seconds after which an unused session is closed.",
          minimum: 1,
          maximum: 7 * 24 * 3600,
          default: serveDefaults.sessionIdleSeconds,
        }),
        max_concurrent_calls: integer({
          description: "Most calls in flight at a time. One client gets at most half of them.",
          minimum: 1,
          maximum: 100_000,
          default: serveDefaults.maxConcurrentCalls,
        }),
        max_calls_per_server: integer({
          description: "Most calls that run at one server at a time. One client gets at most half of them.",
          minimum: 1,
          maximum: 100_000,
          default: serveDefaults.maxCallsPerServer,
        }),
        max_queued_calls_per_server: integer({
          description: "Most calls that wait for one server at a time. One client gets at most half of them.",
          minimum: 1,
          maximum: 100_000,
          default: serveDefaults.maxQueuedCallsPerServer,
        }),
        max_tasks: integer({
          description: "Most tasks that are kept at a time. One client gets at most half of them.",
          minimum: 1,
          maximum: 10_000,
          default: serveDefaults.maxTasks,
        }),
        task_results_max_bytes: bytes(
          "Most bytes of the results of tasks that are kept. One client gets at most half of them.",
          serveDefaults.taskResultsMaxBytes,
        ),
        task_ttl_seconds: integer({
          description: "Seconds for which a task is kept whose client names no ttl.",
          minimum: 1,
          maximum: 7 * 24 * 3600,
          default: serveDefaults.taskTtlSeconds,
        }),
        task_ttl_max_seconds: integer({
          description: "Most seconds for which a task is kept, whatever ttl its client names.",
          minimum: 1,
          maximum: 7 * 24 * 3600,
          default: serveDefaults.taskTtlMaxSeconds,
        }),
      },
    }),
  },
});

/** Parses `127.0.0.1:7420`, `localhost:7420` or `[::1]:7420`. */
export function parseListen(value: string): { readonly host: string; readonly port: number } | undefined {
  const found = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)):([0-9]{1,5})$/.exec(
    value.trim(),
  );
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** `serve` as written. */
export type ServeDocument = ValueOf<typeof serveShape>;
