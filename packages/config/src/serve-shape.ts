/**
 * The section `serve`: the endpoint, how tools are listed, and what one gateway
 * takes on. Every limit has a finite default, and this is where it stands.
 */

import { choice, integer, invalid, list, record, text, type ValueOf } from "@toolcrib/document";
import { quote } from "./display-source.ts";
import { toolPatterns } from "./pattern-shape.ts";

/** Above this many tools, `serve.mode: auto` offers search in place of the full list. */
export const autoModeMaxTools = 40;

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

/** Defaults of `serve`, as they are documented. */
export const serveDefaults = {
  listen: "127.0.0.1:7420",
  auth: "token",
  mode: "full",
  bodyMaxBytes: 4 * 1024 ** 2,
  resultMaxBytes: 16 * 1024 ** 2,
  maxSessions: 1000,
  sessionIdleSeconds: 3600,
  maxConcurrentCalls: 256,
} as const;

export const serveShape = record({
  description: "The endpoint.",
  hints: {
    port: "write listen: 127.0.0.1:PORT",
    host: "write listen: HOST:PORT",
    address: "did you mean listen?",
    bind: "did you mean listen?",
    token: "a token never stands in the configuration: set TOOLCRIB_TOKEN",
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
    auth: choice({
      description: "How clients prove who they are. none is refused on anything but loopback.",
      values: ["token", "none"],
      later: {
        code: "CONFIG_VALUE_NOT_AVAILABLE",
        hints: { jwt: "write token, and put a proxy that checks JWTs before it if you need them" },
      },
      aliases: { bearer: "token", off: "none", no: "none", false: "none", disabled: "none", true: "token" },
      default: serveDefaults.auth,
    }),
    mode: choice({
      description: `Which tools a client is listed: full lists all, search lists a few that find the others, auto is search above ${autoModeMaxTools} tools.`,
      values: ["full", "search", "auto"],
      aliases: { all: "full", list: "full", dynamic: "auto", lazy: "search" },
      default: serveDefaults.mode,
    }),
    tools: record({
      description: "Single tools.",
      fields: {
        hidden: toolPatterns("Tools that are never listed or found."),
        pinned: toolPatterns("Tools that are listed in every mode."),
      },
    }),
    allowed_hosts: list(text({ description: "A host.", pattern: hostName, maxLength: 260 }), {
      description: "Host headers that are answered besides loopback names and the host of listen.",
      maxItems: 100,
    }),
    allowed_origins: list(text({ description: "An origin.", pattern: originPattern, maxLength: 300 }), {
      description: "Origin headers that are answered besides loopback ones.",
      maxItems: 100,
    }),
    limits: record({
      description: "What one gateway takes on.",
      name: "ServeLimits",
      fields: {
        body_max_bytes: bytes("Longest request body, in bytes.", serveDefaults.bodyMaxBytes),
        result_max_bytes: bytes("Longest result of a call, in bytes.", serveDefaults.resultMaxBytes),
        max_sessions: integer({
          description: "Most sessions at a time.",
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
          description: "Most calls under way at a time.",
          minimum: 1,
          maximum: 100_000,
          default: serveDefaults.maxConcurrentCalls,
        }),
      },
    }),
  },
});

/** `127.0.0.1:7420`, `localhost:7420` or `[::1]:7420`. */
export function parseListen(value: string): { readonly host: string; readonly port: number } | undefined {
  const found = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)):([0-9]{1,5})$/.exec(
    value.trim(),
  );
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** `serve` as it is written. */
export type ServeDocument = ValueOf<typeof serveShape>;
