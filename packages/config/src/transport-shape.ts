/**
 * The shape of the `transport` of a tool server: three kinds, each with its own
 * fields. The messages about a missing kind, command and URL come from the
 * Declarative Tool Servers document.
 */

import {
  choice,
  type Definitions,
  type DocumentNode,
  dictionary,
  either,
  entryOf,
  fieldOf,
  flag,
  list,
  looksLikeSecret,
  type MapEntry,
  type Place,
  record,
  reportAt,
  reportAtMap,
  reportType,
  type Shape,
  stringOf,
  text,
  type ValueOf,
} from "@toolcrib/document";
import type { JsonObject } from "@toolcrib/json";
import { looksLikeCredential } from "@toolcrib/redaction";
import type { ConfigText } from "./config-types.ts";
import { credentialArguments } from "./credential-arguments.ts";
import { isSecretEndpoint, quote, textOf } from "./display-source.ts";
import { judgeArguments } from "./judge-arguments.ts";
import { inspectOAuthHeaders, oauthShape } from "./oauth-shape.ts";
import { lintServerUrl } from "./server-url.ts";
import { inspectVariables, reportInline, secretText, textShape, warnOfInline } from "./text-shape.ts";
import { fieldsOfKind, resolveKind, type TransportKind, transportKinds, withKind } from "./transport-kind.ts";

const command = text({
  description: "The executable: a path, or a name to find on PATH.",
  maxLength: 4096,
  examples: ["/usr/local/bin/my-tool-server"],
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    if (!/\s/.test(value.trim()) || /[\\/]/.test(value)) return;
    reportAt(node, place, {
      severity: "warning",
      code: "CONFIG_COMMAND_SUSPICIOUS",
      message: "transport.command must be only the executable, but contains a space",
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
  description: "One argument, passed without a shell and without replacing variables. Never a credential.",
  minLength: 0,
  maxLength: 32_768,
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    if (!looksLikeCredential(value)) return;
    reportInline(node, place, `argument ${Number(place.key) + 1} contains a possible secret`, argumentHint);
  },
});
const argumentHint =
  "pass it in the environment, which other users cannot read: env: { NAME: { secret_key_ref: NAME } }";

/** An argument that is a secret, for programs that take it in no other way. */
const argumentOrSecret = either(
  (node) => node.kind !== "map",
  argument,
  secretText,
  "One argument, or a reference to a secret. Other users of the machine can read the arguments of a process: use a reference here only for a program that takes the secret in no other way.",
);

/** Arguments of a command. */
export const argumentList = argumentsOf(argument);
/** Those of a tool server, which can be secrets. */
const serverArguments = argumentsOf(argumentOrSecret);

function argumentsOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return list(item, { description: "Command-line arguments.", maxItems: 1000, inspect: inspectArguments });
}

/** Warns of the arguments of a command that may be secrets; those that are ones have an error. */
export function warnOfArguments(command: string, node: DocumentNode | undefined, place: Place): void {
  const items = node?.kind === "list" ? node.items : [];
  const texts = items.map(textOf);
  const named = credentialArguments(texts);
  for (const at of judgeArguments(command, texts).secrets) {
    if (!named.has(at) && !looksLikeCredential(texts[at] ?? ""))
      warnOfInline(items[at]!, place, `argument ${at + 1}`, argumentHint);
  }
}

function inspectArguments(_values: unknown, node: DocumentNode, place: Place): void {
  const items = node.kind === "list" ? node.items : [];
  for (const index of credentialArguments(items.map(textOf))) {
    const item = items[index]!;
    // One that looks like a secret is reported by itself.
    if (looksLikeCredential(textOf(item) ?? "")) continue;
    reportInline(
      item,
      place,
      `argument ${index + 1} contains the value of an option for a secret`,
      argumentHint,
    );
  }
}

const plainUrl = text({
  description:
    "The endpoint. https; http to this machine only, unless allow_http. No user name or password, no credential.",
  maxLength: 4096,
  examples: ["https://code-search.internal:8443/mcp"],
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    const hint = "send it in a header: headers: { Authorization: { secret_key_ref: NAME } }";
    if (urlContainsCredential(value)) {
      reportInline(node, place, "transport.url contains a possible secret", hint);
    } else if (isSecretEndpoint(value)) {
      warnOfInline(
        node,
        place,
        "transport.url",
        `${hint}; or, for a URL that is one, url: { secret_key_ref: NAME }`,
      );
    }
  },
});

const url = either(
  (node) => node.kind !== "map",
  plainUrl,
  secretText,
  "The endpoint, or a reference to a secret that is the whole URL, for endpoints whose URL is the credential.",
);

/** Whether a URL contains a credential: a long one anywhere, or any credential as a query parameter. */
export function urlContainsCredential(value: string): boolean {
  const [, query = ""] = value.split("?", 2);
  const parameters = query.split(/[&#]/).map((pair) => pair.slice(pair.indexOf("=") + 1));
  return looksLikeSecret(value) || parameters.some(looksLikeCredential);
}

/** Headers of the protocol and of the connection (RFC 9110 section 7.6.1), in lower case. */
const ownHeaders: ReadonlySet<string> = new Set(
  (
    "accept connection content-length content-type host keep-alive last-event-id mcp-method mcp-name " +
    "mcp-protocol-version mcp-session-id proxy-connection te trailer transfer-encoding upgrade"
  ).split(" "),
);

/** Whether only Toolcrib sets the header `name` of requests to a server, so that no configuration may. Ignores case. */
export function isOwnHeader(name: string): boolean {
  return ownHeaders.has(name.toLowerCase());
}

/** HTTP headers with references to secrets. */
export const headersShape = createHeadersShape(false);
/** Those of a tool server, whose secrets may be one per identity. */
const serverHeadersShape = createHeadersShape(true);

function createHeadersShape(isPerIdentity: boolean) {
  return dictionary(textShape("header", isPerIdentity), {
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
}

function inspectHeader(entry: MapEntry, seen: Set<string>, place: Place): void {
  const folded = entry.key.toLowerCase();
  const at = { span: entry.keySpan, path: place.path };
  if (isOwnHeader(folded)) {
    place.reporter.report({
      code: "CONFIG_HEADER_NOT_ALLOWED",
      message: `Header ${quote(entry.key)} cannot be declared: only Toolcrib sets it`,
      hint: "remove it",
      ...at,
    });
  }
  if (seen.has(folded)) {
    place.reporter.report({
      code: "CONFIG_HEADER_NOT_ALLOWED",
      message: `Header ${quote(entry.key)} is declared twice: header names ignore case`,
      hint: "remove one of the two",
      ...at,
    });
  }
  seen.add(folded);
}

/** Returns the shape of the environment of a command. */
export const variablesShape = (description: string) =>
  dictionary(textShape("variable"), {
    description,
    maxEntries: 256,
    key: { source: "[A-Za-z_][A-Za-z0-9_]{0,127}", meaning: "letters, digits and _" },
  });

/** Returns the shape of a kind that is already resolved. */
function resolvedKind<K extends TransportKind>(kind: K): Shape<K> {
  return {
    check: () => kind,
    toJsonSchema: () => ({ const: kind, description: "Transport of the server." }),
  };
}

const protocolDescription =
  "The revisions of MCP that the server is used in: legacy for those with initialize (up to 2025-11-25), modern for those without (from 2026-07-28 on), auto for what it supports, which is found out once and remembered. Over HTTP, auto uses a server that supports both in the era of each client; over stdio, where that takes a second process, in the legacy one. Default: auto.";

const protocol = choice({
  description: protocolDescription,
  values: ["auto", "legacy", "modern"],
});

const stdioRecord = record({
  name: "StdioTransport",
  description: "The server is a subprocess that uses its standard input and output.",
  fields: {
    kind: { required: resolvedKind("stdio") },
    command: commandOrList,
    manifest: text({
      description:
        "Instead of command: the manifest of a server that is adopted. A name in the catalog, NAME@VERSION, or the path of a manifest relative to the folder of this file. The server is fetched in its recorded version, and reaches only the hosts of the manifest.",
      maxLength: 4096,
      pattern: {
        source: "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:@[0-9]+\\.[0-9]+\\.[0-9]+)?|.*[\\\\/.].*",
        meaning: "a name of the catalog, NAME@VERSION, or the path of a manifest",
      },
      examples: ["memory", "./acme/manifest.yaml"],
    }),
    args: serverArguments,
    env: variablesShape(
      "Environment variables. Values may use secret_key_ref. The process receives these and PATH, HOME, LANG, TMPDIR, but no other variable of the gateway.",
    ),
    cwd: text({
      description:
        "Working folder, relative to the folder of this file. Default: the folder in which Toolcrib was started.",
      maxLength: 4096,
      inspect: inspectVariables,
    }),
    protocol,
  },
  hints: {
    type: "remove it: kind replaces it",
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
    timeout: "write containment: { max_execution_seconds: 30 } next to transport",
    timeout_ms: "write containment: { max_execution_seconds: 30 } next to transport, in seconds",
  },
  misplaced: (entry, at) => misplaced(entry, at, "stdio"),
  inspect(_value, node, place) {
    const command = entryOf(node, "command");
    const manifest = entryOf(node, "manifest");
    const program = command === undefined ? "" : (textOf(command.value) ?? "");
    warnOfArguments(program, fieldOf(node, "args"), { ...place, path: `${place.path}.args` });
    if (command === undefined && manifest === undefined) {
      reportAtMap(node, place, {
        code: "CONFIG_COMMAND_REQUIRED",
        message: "transport.command required for stdio",
        hint: "add command: with the path to the executable",
      });
    } else if (command !== undefined && manifest !== undefined) {
      reportAt(manifest.value, place, {
        code: "CONFIG_INVALID_VALUE",
        message: `${quote(place.path)} has both command and manifest`,
        hint: "remove command: the manifest names the program",
        span: manifest.keySpan,
      });
    }
  },
});

/** The record, whose schema also says that there is either a command or a manifest. */
const stdioShape: Shape<ValueOf<typeof stdioRecord>> = {
  check: (node, place) => stdioRecord.check(node, place),
  toJsonSchema(definitions) {
    const schema = stdioRecord.toJsonSchema(definitions);
    const full = definitions?.get("StdioTransport");
    const oneOf = [{ required: ["command"] }, { required: ["manifest"] }];
    if (full !== undefined) definitions?.set("StdioTransport", { ...full, oneOf });
    return schema;
  },
};

/** A text or a reference to a secret, with a description of its own in the schema. */
function describedText(description: string): Shape<ConfigText> {
  const shape = textShape("header");
  return {
    check: shape.check,
    toJsonSchema: (definitions) => ({ ...shape.toJsonSchema(definitions), description }),
  };
}

/** The fields that say whom a connection trusts, and with which certificate it presents itself. */
export const certificateFields = {
  ca_file: text({
    description:
      "A PEM file of authorities that are trusted for this connection in addition to the system's; relative to the folder of this file.",
    maxLength: 4096,
    examples: ["./corporate-ca.pem"],
    inspect: inspectVariables,
  }),
  client_certificate: describedText(
    "The PEM certificate chain of the client (mutual TLS), with secret_key_ref: { file: PATH }. Needs client_key.",
  ),
  client_key: describedText("The PEM key of client_certificate, with secret_key_ref."),
} as const;

/** Reports a certificate of the client without its key, or a key without its certificate. */
export function inspectClientCertificate(
  value: {
    readonly client_certificate?: ConfigText | undefined;
    readonly client_key?: ConfigText | undefined;
  },
  node: DocumentNode,
  place: Place,
): void {
  if ((value.client_certificate === undefined) === (value.client_key === undefined)) return;
  reportAt(node, place, {
    code: "CONFIG_INVALID_VALUE",
    message: "client_certificate and client_key belong together, but only one of them is present",
    hint: "add the other one with secret_key_ref",
  });
}

function httpRecord<K extends "sse" | "streamable_http">(kind: K, name: string, description: string) {
  return record({
    name,
    description,
    fields: {
      kind: { required: resolvedKind(kind) },
      url: {
        required: url,
        missing: {
          code: "CONFIG_URL_REQUIRED",
          message: `transport.url required for ${kind}`,
          hint: "add url: with the endpoint, such as https://host/mcp",
        },
      },
      headers: serverHeadersShape,
      allow_http: flag("Whether url may be plain http to another machine.", { default: false }),
      proxy: describedText(
        "The HTTP proxy to the server: a URL, or env for the one that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name. A URL with a password needs secret_key_ref. Default: a direct connection.",
      ),
      ...certificateFields,
      protocol,
      auth: oauthShape,
    },
    hints: {
      type: "remove it: kind replaces it",
      endpoint: "did you mean url?",
      uri: "did you mean url?",
      server_url: "did you mean url?",
      serverUrl: "did you mean url?",
      httpUrl: "did you mean url?",
      http_headers: "did you mean headers?",
      ca_files: "did you mean ca_file?",
      client_cert: "did you mean client_certificate?",
      https_proxy: "did you mean proxy?",
      oauth: "write auth: { type: oauth }",
      token: "write headers: { Authorization: { secret_key_ref: NAME } }",
      timeout: "write containment: { max_execution_seconds: 30 } next to transport",
      timeout_ms: "write containment: { max_execution_seconds: 30 } next to transport, in seconds",
    },
    misplaced: (entry, at) => misplaced(entry, at, kind),
    inspect(value, node, place) {
      inspectClientCertificate(value, node, place);
      if (kind === "sse" && value.protocol === "modern") {
        reportAt(
          fieldOf(node, "protocol") ?? node,
          {
            ...place,
            path: `${place.path}.protocol`,
          },
          {
            code: "CONFIG_INVALID_VALUE",
            message: "protocol: modern has no SSE transport",
            hint: "write kind: streamable_http, or remove protocol",
          },
        );
      }
      inspectOAuthHeaders(value.auth, value.headers, node, place);
      const urlNode = fieldOf(node, "url");
      if (typeof value.url !== "string" || urlNode === undefined) return;
      const problem = lintServerUrl(value.url.trim(), value.allow_http === true);
      if (problem !== undefined) reportAt(urlNode, { ...place, path: `${place.path}.url` }, problem);
    },
  });
}

/** Returns the finding about a field of another transport kind. */
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
  stdio: stdioShape,
  sse: httpRecord("sse", "SseTransport", "The server uses HTTP with server-sent events."),
  streamable_http: httpRecord(
    "streamable_http",
    "StreamableHttpTransport",
    "The server uses MCP Streamable HTTP.",
  ),
};

/** The result of `transportShape`. */
export type TransportDocument = ValueOf<(typeof recordOfKind)[TransportKind]>;
/** `transport`, checked by its kind or by the probably intended kind. */
export const transportShape: Shape<TransportDocument> = {
  check(node, place) {
    if (node.kind !== "map") return reportType(node, place, "a map");
    const kind = resolveKind(node, place);
    return kind === undefined ? undefined : recordOfKind[kind].check(withKind(node, kind), place);
  },
  toJsonSchema: (definitions: Definitions): JsonObject => ({
    description: "Transport of the server.",
    oneOf: transportKinds.map((kind) => recordOfKind[kind].toJsonSchema(definitions)),
  }),
};
