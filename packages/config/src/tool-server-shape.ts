/**
 * The shape of an entry of `tool_servers` (Declarative Tool Servers document),
 * with additions: `transport.cwd`, `transport.allow_http`, the network path of a
 * transport (`proxy`, `ca_file`, `client_certificate`, `client_key`), and the lists
 * that define the scope of `scoped` containment.
 */

import {
  choice,
  type DocumentNode,
  dictionary,
  entryOf,
  fieldOf,
  flag,
  type Inspect,
  integer,
  list,
  looksLikeSecret,
  type MapEntry,
  type Place,
  type Problem,
  record,
  reportAt,
  type Shape,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { looksLikeCredential } from "@toolcrib/redaction";
import { containmentLevel } from "./containment-level.ts";
import { quote } from "./display-source.ts";
import { egressAllowShape } from "./egress-allow-shape.ts";
import { chosenToolsShape, credentialsShape } from "./manifest-entry-shape.ts";
import { lintServerId, serverIdMaxLength, serverIdPattern } from "./server-id.ts";
import { reportInline } from "./text-shape.ts";
import { transportShape } from "./transport-shape.ts";

/** Default of `idle_seconds`. */
export const idleSecondsDefault = 300;

/** Maximum number of entries of `tool_servers`. @limit operator */
export const maxToolServers = 1000;

const idText = text({
  description:
    "Unique identifier, and the first part of the names of its tools. Must not be the id of a provider target.",
  maxLength: 256,
  inspect(value, node, place) {
    const id = value.trim();
    const finding = lintServerId(id);
    if (finding === undefined) return;
    reportAt(node, place, {
      code: "CONFIG_ID_INVALID",
      message: `Id ${quote(id)} cannot be used: ${finding.reason}`,
      hint: looksLikeCredential(id) ? "write a name" : `write a name such as ${finding.fix}`,
    });
  },
});

/** The id of a tool server or toolspec, trimmed. */
export const idShape: Shape<string> = {
  check: (node, place) => idText.check(node, place)?.trim(),
  toJsonSchema: (definitions) => ({
    ...idText.toJsonSchema(definitions),
    maxLength: serverIdMaxLength,
    pattern: `^(?:${serverIdPattern})$`,
  }),
};

/** Whether an entry is used. */
export const enabledFlag = flag(
  "Whether it is started and offered. `toolcrib enable` and `toolcrib disable` change that without this file, and win over it. Default: true.",
  { default: true },
);

function refuseEmbeddedSecret(field: string): Inspect<string> {
  return (value, node, place) => {
    if (!looksLikeSecret(value)) return;
    reportInline(
      node,
      place,
      `${field} contains a possible secret`,
      "remove it: models and logs receive this text",
    );
  };
}

const filePath = {
  source: "[^\\x00-\\x1f]+",
  meaning: "a path: absolute, below ~/, or relative to the folder of this file",
};

/** Fields of the containment of processes, which hooks have too. */
export const containmentFields = {
  network_egress: containmentLevel(
    "Network access of the process. scoped needs egress_allow. Default: deny.",
  ),
  egress_allow: egressAllowShape,
  read_paths: list(
    text({
      description: "A folder, including its subfolders, or a file.",
      pattern: filePath,
      maxLength: 4096,
    }),
    {
      description: "Folders and files that the process may read, in addition to its program and cwd.",
      maxItems: 1000,
    },
  ),
};

export const containmentShape = record({
  name: "Containment",
  description: "Execution boundary. The defaults depend on trust_state.",
  fields: {
    network_egress: containmentLevel("Network access of the server. scoped needs egress_allow."),
    filesystem_write: containmentLevel("Write access of the server. scoped needs write_paths."),
    max_execution_seconds: integer({
      description: "Deadline of each call, in seconds. Progress notifications do not extend it.",
      minimum: 1,
      maximum: 3600,
    }),
    egress_allow: egressAllowShape,
    write_paths: list(
      text({ description: "A folder, including its subfolders.", pattern: filePath, maxLength: 4096 }),
      {
        description:
          "Folders that filesystem_write: scoped allows. Relative paths are relative to the folder of this file. Missing folders are created.",
        maxItems: 1000,
      },
    ),
    read_paths: list(
      text({
        description: "A folder, including its subfolders, or a file.",
        pattern: filePath,
        maxLength: 4096,
      }),
      {
        description:
          "Folders and files that the process of a stdio server may read, in addition to its program and cwd.",
        maxItems: 1000,
      },
    ),
    read_arguments: flag(
      "Whether the process of a stdio server may read the files and folders that its arguments name. Default: true. toolcrib add and import write false where the author of a bundle or of a server.json wrote them.",
    ),
    state: flag(
      "Whether the process of a stdio server keeps a private, writable folder as its HOME from one start to the next. Without it, HOME is empty at each start.",
    ),
  },
  hints: {
    timeout: secondsHint,
    timeout_ms: (entry) => secondsHint(entry, 1000),
    timeout_seconds: secondsHint,
    timeout_secs: secondsHint,
    max_seconds: secondsHint,
    max_execution_ms: (entry) => secondsHint(entry, 1000),
    execution_timeout: secondsHint,
    network: "did you mean network_egress?",
    network_access: "did you mean network_egress?",
    egress: "did you mean network_egress?",
    filesystem: "did you mean filesystem_write?",
    fs_write: "did you mean filesystem_write?",
    write: "did you mean filesystem_write?",
    allowed_hosts: "did you mean egress_allow?",
    hosts: "did you mean egress_allow?",
    allowed_paths: "did you mean write_paths?",
    paths: "did you mean write_paths?",
    readable_paths: "did you mean read_paths?",
    persistent: "did you mean state?",
    home: "write state: true for a private folder as HOME",
    memory: "containment has no memory limit",
  },
  inspect(_value, node, place) {
    inspectScope(node, place, "network_egress", "egress_allow", "[api.example.com]");
    inspectScope(node, place, "filesystem_write", "write_paths", "[/srv/data]");
  },
});

/** Reports `scoped` without its list, and the list without `scoped`. */
export function inspectScope(
  node: DocumentNode,
  place: Place,
  field: string,
  scopeField: string,
  example: string,
): void {
  const entry = entryOf(node, field);
  const scope = entryOf(node, scopeField);
  const isScoped = entry?.value.kind === "scalar" && entry.value.value === "scoped";
  const isListed = scope !== undefined && !(scope.value.kind === "list" && scope.value.items.length === 0);
  const report = (problem: Problem): void =>
    place.reporter.report({ path: `${place.path}.${field}`, ...problem });
  if (isScoped && !isListed) {
    report({
      code: "CONFIG_SCOPE_MISSING",
      message: `${field}: scoped needs its scope: ${scopeField} is ${scope === undefined ? "absent" : "empty"}`,
      hint: `add ${scopeField}: ${example}, or write ${field}: deny`,
      span: entry.value.span,
    });
  } else if (!isScoped && scope !== undefined) {
    const state = entry?.value.kind === "scalar" ? `is ${quote(entry.value.text)}` : "is absent";
    report({
      code: "CONFIG_SCOPE_UNUSED",
      message: `${scopeField} has no effect: ${field} ${state}`,
      hint: `write ${field}: scoped, or remove ${scopeField}`,
      span: scope.keySpan,
    });
  }
}

/** Returns the hint for a field with a time in other units. */
function secondsHint(entry: MapEntry, unitsPerSecond = 1): string {
  const number = entry.value.kind === "scalar" ? Number(entry.value.value) : Number.NaN;
  const seconds = Number.isFinite(number) && number > 0 ? Math.ceil(number / unitsPerSecond) : 30;
  return `write max_execution_seconds: ${Math.min(seconds, 3600)}`;
}

const inTransport = (field: string): string => `write it in transport: transport: { ${field}: … }`;
const inContainment = (field: string): string => `write it in containment: containment: { ${field}: … }`;

/** Labels of the data that a tool server or toolspec returns. */
export const dataLabelsShape = list(
  text({
    description: "A label.",
    maxLength: 64,
    pattern: { source: "[A-Za-z0-9][A-Za-z0-9_.:/-]*", meaning: "letters, digits and _ . : / -" },
    examples: ["personal"],
  }),
  {
    description:
      "Labels of everything that it returns. Runs and clients that received it carry them, and policies can refuse calls by them (context.labels, context.seen_labels).",
    maxItems: 32,
  },
);

/** Labels of a tool server or toolspec. */
export const labelsShape = dictionary(
  text({
    description: "The value of the label.",
    minLength: 0,
    maxLength: 256,
    inspect(value, node, place) {
      if (!looksLikeCredential(value)) return;
      reportInline(
        node,
        place,
        `label ${quote(place.key)} contains a possible secret`,
        "remove it: policies and logs receive labels",
      );
    },
  }),
  {
    description: "Key-value pairs for policies.",
    maxEntries: 64,
    key: {
      source: "[A-Za-z0-9](?:[A-Za-z0-9_./-]{0,61}[A-Za-z0-9])?",
      meaning: "letters, digits and _ . - / (at most 63)",
    },
  },
);

/** Fields of a tool server that packages have too. */
export const toolServerFields = {
  trust_state: choice({
    description:
      "Trust of the operator in the server. Toolcrib never changes it. docs/reference/enforcement.md lists what depends on it.",
    values: ["unverified", "verified", "certified"],
    default: "unverified",
    aliases: {
      pending: "unverified",
      untrusted: "unverified",
      unknown: "unverified",
      none: "unverified",
      new: "unverified",
      approved: "verified",
      trusted: "verified",
      confirmed: "verified",
      true: "verified",
      certificated: "certified",
      full: "certified",
      fully_trusted: "certified",
    },
  }),
  mutability_class: choice({
    description:
      "The operator's statement about its tools: read_only blocks those that declare that they write; with write, no tool is believed to be safe.",
    values: ["read_only", "write", "unknown"],
    default: "unknown",
    aliases: {
      mutating: "write",
      mutable: "write",
      read_write: "write",
      readwrite: "write",
      rw: "write",
      writable: "write",
      readonly: "read_only",
      ro: "read_only",
      read: "read_only",
      immutable: "read_only",
      non_mutating: "read_only",
    },
  }),
};

/** Reports what only servers from a manifest have, and what their manifest decides. */
function inspectManifest(node: DocumentNode, place: Place): void {
  const manifest = entryOf(fieldOf(node, "transport"), "manifest");
  if (manifest === undefined) {
    for (const field of ["credentials", "tools"]) {
      const entry = entryOf(node, field);
      if (entry === undefined) continue;
      place.reporter.report({
        code: "CONFIG_FIELD_MISPLACED",
        path: `${place.path}.${field}`,
        message: `Field ${quote(field)} belongs to a server with transport.manifest`,
        hint:
          field === "tools"
            ? "remove it: policy.allow and policy.deny decide which tools are offered"
            : "write the secret in env or headers: { NAME: { secret_key_ref: NAME } }",
        span: entry.keySpan,
      });
    }
    return;
  }
  const containment = fieldOf(node, "containment");
  const network = entryOf(containment, "network_egress");
  const isDeny = network?.value.kind === "scalar" && network.value.value === "deny";
  for (const entry of [isDeny ? undefined : network, entryOf(containment, "egress_allow")]) {
    if (entry === undefined) continue;
    place.reporter.report({
      code: "CONFIG_FIELD_MISPLACED",
      path: `${place.path}.containment.${entry.key}`,
      message: `The manifest decides which hosts the server reaches, and not containment.${entry.key}`,
      hint: "remove it, write network_egress: deny, or name a copy of the manifest with other hosts: transport: { kind: stdio, manifest: ./manifest.yaml }",
      span: entry.keySpan,
    });
  }
}

export const toolServerShape = record({
  name: "ToolServer",
  description: "A durable MCP server that Toolcrib manages.",
  fields: {
    id: { required: idShape },
    enabled: enabledFlag,
    name: text({ description: "Display name.", maxLength: 200, inspect: refuseEmbeddedSecret("name") }),
    description: text({
      description: "Purpose of the server, for audit and discovery.",
      maxLength: 4000,
      inspect: refuseEmbeddedSecret("description"),
    }),
    transport: {
      required: transportShape,
      missing: {
        code: "CONFIG_TRANSPORT_KIND",
        message: "transport.kind missing or invalid: the server has no transport",
        hint: "add transport: { kind: stdio, command: … } or transport: { kind: streamable_http, url: … }",
      },
    },
    trust_state: toolServerFields.trust_state,
    first_contact: choice({
      description:
        "Definitions (tools, prompts, resource templates, instructions) that the server lists for the first time: ask offers them after toolcrib approve, pin offers them at once. Default: ask for trust_state: unverified, otherwise pin. A definition that changes later is held back either way, unless the server is certified.",
      values: ["ask", "pin"],
      aliases: { approve: "ask", accept: "pin", trust: "pin" },
    }),
    pin_resources: flag(
      "Whether each resource that the server lists is held back like a tool, when it is new (first_contact: ask) or changed. Without it, the approval is for listing resources at all, because their list changes with the data of a server. Default: false.",
    ),
    mutability_class: toolServerFields.mutability_class,
    containment: containmentShape,
    credentials: credentialsShape,
    tools: chosenToolsShape,
    labels: labelsShape,
    data_labels: dataLabelsShape,
    start: choice({
      description:
        "When the server starts: eager starts it with the gateway, lazy at its first call; a lazy server is listed from memory.",
      values: ["eager", "lazy"],
      default: "eager",
      aliases: { on_demand: "lazy", immediate: "eager" },
    }),
    validation: choice({
      description:
        "Arguments whose types differ from the input schema. strict refuses them. upstream passes those on that the server can convert itself: numbers and booleans in texts, texts for numbers, JSON in texts. Default: strict for trust_state: unverified, otherwise upstream.",
      values: ["strict", "upstream"],
    }),
    interactive: flag(
      "Whether clients with sampling, elicitation or roots get a session of their own, in which the server can ask them. true: from their first call on. false: never, and the server cannot ask. Default: when the server has asked for one of these once, which is remembered.",
    ),
    idle_seconds: integer({
      description: "Seconds without a call after which a lazy server is stopped.",
      minimum: 1,
      maximum: 24 * 3600,
      default: idleSecondsDefault,
    }),
  },
  inspect(_value, node, place) {
    inspectManifest(node, place);
    const idle = entryOf(node, "idle_seconds");
    const start = entryOf(node, "start")?.value;
    const isLazy = start?.kind === "scalar" && start.value === "lazy";
    if (idle === undefined || isLazy) return;
    place.reporter.report({
      code: "CONFIG_IDLE_UNUSED",
      path: `${place.path}.idle_seconds`,
      message: "idle_seconds has no effect: the server does not start lazily",
      hint: "write start: lazy, or remove idle_seconds",
      span: idle.keySpan,
    });
  },
  hints: {
    kind: inTransport("kind"),
    type: inTransport("kind"),
    command: inTransport("command"),
    args: inTransport("args"),
    env: inTransport("env"),
    cwd: inTransport("cwd"),
    url: inTransport("url"),
    headers: inTransport("headers"),
    allow_http: inTransport("allow_http"),
    proxy: inTransport("proxy"),
    ca_file: inTransport("ca_file"),
    network_egress: inContainment("network_egress"),
    filesystem_write: inContainment("filesystem_write"),
    max_execution_seconds: inContainment("max_execution_seconds"),
    timeout: (entry) => secondsHint(entry).replace("write ", "write containment: { ").concat(" }"),
    timeout_ms: (entry) => secondsHint(entry, 1000).replace("write ", "write containment: { ").concat(" }"),
    timeout_seconds: (entry) => secondsHint(entry).replace("write ", "write containment: { ").concat(" }"),
    trust: "did you mean trust_state?",
    trusted: "did you mean trust_state?",
    status: "did you mean trust_state?",
    state: "did you mean trust_state?",
    mutability: "did you mean mutability_class?",
    mutating: "write mutability_class: write",
    read_only: "write mutability_class: read_only",
    readonly: "write mutability_class: read_only",
    title: "did you mean name?",
    display_name: "did you mean name?",
    tags: "write labels: { name: value }",
    manifest: inTransport("manifest"),
    disabled: "write enabled: false",
    sandbox: "did you mean containment?",
  },
});

/** An entry of `tool_servers` as written. */
export type ToolServerDocument = ValueOf<typeof toolServerShape>;
