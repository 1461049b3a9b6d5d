/**
 * The `transport` of a tool server: three kinds, each with its own fields. The
 * messages about a missing kind, command and URL are those of the Declarative
 * Tool Servers document.
 */

import {
  type Definitions,
  dictionary,
  fieldOf,
  flag,
  list,
  looksLikeSecret,
  type MapEntry,
  type Place,
  record,
  reportAt,
  reportType,
  type Shape,
  stringOf,
  text,
  type ValueOf,
} from "@toolcrib/document";
import type { JsonObject } from "@toolcrib/json";
import { looksLikeCredential } from "./credential.ts";
import { quote } from "./display-source.ts";
import { lintServerUrl } from "./server-url.ts";
import { inspectVariables, reportInline, textShape } from "./text-shape.ts";
import { fieldsOfKind, settled, settleKind, type TransportKind, transportKinds } from "./transport-kind.ts";

const command = text({
  description: "The executable: a path, or a name that is looked up on PATH.",
  maxLength: 4096,
  examples: ["/usr/local/bin/my-tool-server"],
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    if (!/\s/.test(value.trim()) || /[\\/]/.test(value)) return;
    reportAt(node, place, {
      severity: "warning",
      code: "CONFIG_COMMAND_SUSPICIOUS",
      message: "transport.command is the executable alone, but holds a space",
      hint: `write command: ${value.trim().split(/\s+/, 1)[0]} and the rest as args`,
    });
  },
});

const commandOrList: Shape<string> = {
  check(node, place) {
    if (node.kind !== "list") return command.check(node, place);
    const [first, ...rest] = node.items.map(stringOf);
    const isPlain =
      first !== undefined && !rest.some((item) => item === undefined || looksLikeCredential(item));
    const hint = isPlain
      ? `write command: ${first} and args: ${JSON.stringify(rest)}`
      : "write command and args";
    return reportType(node, place, "a string", hint);
  },
  toJsonSchema: command.toJsonSchema,
};

const argument = text({
  description: "One argument, passed as it is: no shell, no variables. Never a credential.",
  minLength: 0,
  maxLength: 32_768,
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    if (!looksLikeCredential(value)) return;
    const hint =
      "pass it in the environment, where other users cannot read it: env: { NAME: { secret_key_ref: NAME } }";
    reportInline(node, place, `argument ${Number(place.key) + 1} holds what looks like a secret`, hint);
  },
});

const url = text({
  description:
    "The endpoint. https; http to this machine only, unless allow_http. No user name or password, no credential.",
  maxLength: 4096,
  examples: ["https://code-search.internal:8443/mcp"],
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    if (!urlHoldsCredential(value)) return;
    const hint = "send it in a header: headers: { Authorization: { secret_key_ref: NAME } }";
    reportInline(node, place, "transport.url holds what looks like a secret", hint);
  },
});

/** Whether a URL carries a credential: a long one anywhere, or any as a parameter of its query. */
export function urlHoldsCredential(value: string): boolean {
  const [, query = ""] = value.split("?", 2);
  const parameters = query.split(/[&#]/).map((pair) => pair.slice(pair.indexOf("=") + 1));
  return looksLikeSecret(value) || parameters.some(looksLikeCredential);
}

/** Headers that carry the protocol or the connection, in lower case. */
export const ownHeaders: ReadonlySet<string> = new Set(
  (
    "accept connection content-length content-type host keep-alive last-event-id mcp-method mcp-name " +
    "mcp-protocol-version mcp-session-id proxy-connection te trailer transfer-encoding upgrade"
  ).split(" "),
);

const headers = dictionary(textShape("header"), {
  description: "HTTP headers of every request. Values may use secret_key_ref.",
  maxEntries: 64,
  key: {
    source: "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}",
    meaning: "letters, digits and - (an HTTP header name)",
  },
  inspect(_value, node, place) {
    const seen = new Set<string>();
    for (const entry of node.kind === "map" ? node.entries : []) inspectHeader(entry, seen, place);
  },
});

function inspectHeader(entry: MapEntry, seen: Set<string>, place: Place): void {
  const folded = entry.key.toLowerCase();
  const at = { span: entry.keySpan, path: place.path };
  if (ownHeaders.has(folded)) {
    place.reporter.report({
      code: "CONFIG_HEADER_NOT_ALLOWED",
      message: `Header ${quote(entry.key)} cannot be declared: Toolcrib sets it itself`,
      hint: "remove it",
      ...at,
    });
  }
  if (seen.has(folded)) {
    place.reporter.report({
      code: "CONFIG_HEADER_NOT_ALLOWED",
      message: `Header ${quote(entry.key)} is declared twice: case makes no difference`,
      hint: "remove one of the two",
      ...at,
    });
  }
  seen.add(folded);
}

/** A kind that was looked at before its record is. */
function settledKind<K extends TransportKind>(kind: K): Shape<K> {
  return {
    check: () => kind,
    toJsonSchema: () => ({ const: kind, description: "How the server is reached." }),
  };
}

const stdioRecord = record({
  name: "StdioTransport",
  description: "The server is a subprocess that speaks over its standard input and output.",
  fields: {
    kind: { required: settledKind("stdio") },
    command: {
      required: commandOrList,
      missing: {
        code: "CONFIG_COMMAND_REQUIRED",
        message: "transport.command required for stdio",
        hint: "add command: with the path to the executable",
      },
    },
    args: list(argument, { description: "Command-line arguments.", maxItems: 1000 }),
    env: dictionary(textShape("variable"), {
      description:
        "Environment variables. Values may use secret_key_ref. The process gets these and PATH, HOME, LANG, TMPDIR, never those of the gateway.",
      maxEntries: 256,
      key: { source: "[A-Za-z_][A-Za-z0-9_]{0,127}", meaning: "letters, digits and _" },
    }),
    cwd: text({
      description:
        "Working folder, relative to the folder of this file; without it, the folder that Toolcrib was started in.",
      maxLength: 4096,
      inspect: inspectVariables,
    }),
  },
  hints: {
    type: "remove it: kind says it",
    cmd: "did you mean command?",
    executable: "did you mean command?",
    program: "did you mean command?",
    path: "did you mean command?",
    arguments: "did you mean args?",
    argv: "did you mean args?",
    environment: "did you mean env?",
    env_vars: "did you mean env?",
    working_directory: "did you mean cwd?",
    workdir: "did you mean cwd?",
    directory: "did you mean cwd?",
    timeout: "write containment: { max_execution_seconds: 30 } beside transport",
    timeout_ms: "write containment: { max_execution_seconds: 30 } beside transport, in seconds",
  },
  misplaced: (entry, at) => misplaced(entry, at, "stdio"),
});

function httpRecord<K extends "sse" | "streamable_http">(kind: K, name: string, description: string) {
  return record({
    name,
    description,
    fields: {
      kind: { required: settledKind(kind) },
      url: {
        required: url,
        missing: {
          code: "CONFIG_URL_REQUIRED",
          message: `transport.url required for ${kind}`,
          hint: "add url: with the endpoint, such as https://host/mcp",
        },
      },
      headers,
      allow_http: flag("Whether url may be plain http to another machine.", { default: false }),
    },
    hints: {
      type: "remove it: kind says it",
      endpoint: "did you mean url?",
      uri: "did you mean url?",
      server_url: "did you mean url?",
      serverUrl: "did you mean url?",
      httpUrl: "did you mean url?",
      http_headers: "did you mean headers?",
      auth: "write headers: { Authorization: { secret_key_ref: NAME } }",
      token: "write headers: { Authorization: { secret_key_ref: NAME } }",
      timeout: "write containment: { max_execution_seconds: 30 } beside transport",
      timeout_ms: "write containment: { max_execution_seconds: 30 } beside transport, in seconds",
    },
    misplaced: (entry, at) => misplaced(entry, at, kind),
    inspect(value, node, place) {
      const urlNode = fieldOf(node, "url");
      if (value.url === undefined || urlNode === undefined) return;
      const problem = lintServerUrl(value.url.trim(), value.allow_http === true);
      if (problem !== undefined) reportAt(urlNode, { ...place, path: `${place.path}.url` }, problem);
    },
  });
}

/** What is said of a field that another kind of transport has. */
function misplaced(entry: MapEntry, at: Place, kind: TransportKind) {
  const owner = transportKinds.find((other) => fieldsOfKind[other].includes(entry.key));
  if (owner === undefined) return undefined;
  const owners = owner === "stdio" ? "stdio" : "sse and streamable_http";
  return {
    code: "CONFIG_FIELD_MISPLACED",
    message: `Field ${quote(at.path)} belongs to ${owners}, but kind is ${kind}`,
    hint: owner === "stdio" ? "remove it, or write kind: stdio" : "remove it, or write kind: streamable_http",
  };
}

const recordOfKind = {
  stdio: stdioRecord,
  sse: httpRecord("sse", "SseTransport", "The server is reached by HTTP with server-sent events."),
  streamable_http: httpRecord(
    "streamable_http",
    "StreamableHttpTransport",
    "The server is reached by HTTP (MCP Streamable HTTP).",
  ),
};

/** What `transportShape` yields. */
export type TransportDocument = ValueOf<(typeof recordOfKind)[TransportKind]>;
/** `transport`: checked by its kind, or by the kind that it seems to be. */
export const transportShape: Shape<TransportDocument> = {
  check(node, place) {
    if (node.kind !== "map") return reportType(node, place, "a map");
    const kind = settleKind(node, place);
    return kind === undefined ? undefined : recordOfKind[kind].check(settled(node, kind), place);
  },
  toJsonSchema: (definitions: Definitions): JsonObject => ({
    description: "How the server is reached.",
    oneOf: transportKinds.map((kind) => recordOfKind[kind].toJsonSchema(definitions)),
  }),
};
