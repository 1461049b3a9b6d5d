/**
 * The section `hooks`: programs and URLs that are asked before a call is made, and after its
 * result has arrived. A hook is a command in a sandbox or a URL, with the secrets that it needs
 * by reference.
 */

import type { Source } from "@toolcrib/diagnostics";
import {
  type DocumentNode,
  entryOf,
  fieldOf,
  integer,
  list,
  nodeAt,
  type Place,
  record,
  reportAt,
  reportAtMap,
  reportRepeated,
  text,
  type ValueOf,
} from "@toolcrib/document";
import type { ConfigText, HookConfig, HooksConfig } from "./config-types.ts";
import { quote, textOf } from "./display-source.ts";
import { toEgressAllow } from "./egress-allow-shape.ts";
import { lintEgressUrl } from "./egress-url.ts";
import { policyPatterns } from "./pattern-shape.ts";
import { inspectVariables, reportInline } from "./text-shape.ts";
import { containmentFields, inspectScope } from "./tool-server-shape.ts";
import {
  argumentList,
  headersShape,
  urlContainsCredential,
  variablesShape,
  warnOfArguments,
} from "./transport-shape.ts";

/** Default values of `hooks`. */
const defaults = {
  timeoutSeconds: 5,
  maxRunning: 16,
  maxWaiting: 128,
  inputMaxBytes: 4 * 1024 ** 2,
  answerMaxBytes: 4 * 1024 ** 2,
} as const;

/** Most hooks of one list. @limit operator */
const maxHooks = 50;

/** The URL of a hook, for messages. */
const hookUrl = {
  noun: "The URL of a hook",
  credentialHint: "write headers: { Authorization: { secret_key_ref: NAME } }",
  exampleHost: "dlp.example.com",
} as const;

const url = text({
  description:
    "Instead of command: an address that each question is sent to (POST). https with a host name, through the egress; http to this machine only. No user name or password, no credential.",
  maxLength: 4096,
  examples: ["https://dlp.example.com/v1/check", "http://127.0.0.1:9000/check"],
  inspect(value, node, place) {
    inspectVariables(value, node, place);
    if (urlContainsCredential(value)) {
      const hint = "send it in a header: headers: { Authorization: { secret_key_ref: NAME } }";
      reportInline(node, place, "the URL of a hook contains a possible secret", hint);
      return;
    }
    const problem = lintEgressUrl(value.trim(), hookUrl);
    if (problem !== undefined) reportAt(node, place, problem);
  },
});

const { network_egress, egress_allow, read_paths } = containmentFields;

const hookShape = record({
  description: "A program or URL that is asked about calls: exactly one of command and url.",
  name: "Hook",
  fields: {
    name: {
      required: text({
        description: "Unique name in its list, in refusals and in the audit trail.",
        maxLength: 64,
        pattern: { source: "[A-Za-z0-9][A-Za-z0-9_.-]*", meaning: "letters, digits and _ . -" },
        examples: ["no-private-addresses"],
      }),
    },
    tools: policyPatterns(
      "Tools, resources and prompts whose calls it is asked about. Without this list: all, except for Toolcrib's own tools, whose inner calls are calls of their own.",
    ),
    clients: list(
      text({ description: "Name of a client, as in policy.clients.", maxLength: 128, examples: ["ci"] }),
      {
        description: "Clients whose calls it is asked about. Default: all, the operator included.",
        maxItems: 1000,
        emptyCode: "CONFIG_INVALID_VALUE",
      },
    ),
    timeout_seconds: integer({
      description:
        "Seconds in which it must answer, waiting for its turn included. The time counts to the deadline of the call.",
      minimum: 1,
      maximum: 300,
      default: defaults.timeoutSeconds,
    }),
    command: text({
      description:
        "The executable: a path, relative to cwd, or a name to find on PATH. It runs in a sandbox, reads one question as JSON from standard input, and writes one answer as JSON to standard output.",
      maxLength: 4096,
      examples: ["/usr/local/bin/check-call"],
      inspect: inspectVariables,
      otherTypeHint: (node) =>
        node.kind === "list" ? "write the program as command, and the rest as args" : undefined,
    }),
    args: argumentList,
    env: variablesShape(
      "Environment variables of the command. Values may use secret_key_ref. It receives these and PATH, HOME, LANG, TMPDIR, but no other variable of the gateway.",
    ),
    cwd: text({
      description:
        "Working folder of the command, which it may read; relative to the folder of this file. Default: the folder in which Toolcrib was started.",
      maxLength: 4096,
      inspect: inspectVariables,
    }),
    network_egress: network_egress,
    egress_allow: egress_allow,
    read_paths: read_paths,
    url,
    headers: headersShape,
  },
  hints: {
    id: "did you mean name?",
    tool: "write tools: [PATTERN]",
    client: "write clients: [NAME]",
    timeout: "write timeout_seconds: 5",
    timeout_ms: "write timeout_seconds: 5",
    timeout_secs: "did you mean timeout_seconds?",
    max_execution_seconds: "did you mean timeout_seconds?",
    containment: "write network_egress, egress_allow and read_paths beside command",
    filesystem_write: "a hook writes nothing but temporary files: remove it",
    write_paths: "a hook writes nothing but temporary files: remove it",
    on_error: "a hook that fails always denies: remove it",
    fail_open: "a hook that fails always denies: remove it",
    endpoint: "did you mean url?",
    transport: "write command or url directly",
  },
  inspect: inspectHook,
});

/** Fields of one kind of hook only. */
const commandFields = ["args", "env", "cwd", "network_egress", "egress_allow", "read_paths"] as const;

function inspectHook(_value: object, node: DocumentNode, place: Place): void {
  if (node.kind !== "map") return;
  const [command, address] = [entryOf(node, "command"), entryOf(node, "url")];
  const invalid = (message: string, hint: string) =>
    reportAtMap(node, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `${quote(place.path)} ${message}`,
      hint,
    });
  if (command === undefined && address === undefined) {
    invalid("has neither command nor url", "write command: PROGRAM or url: https://HOST/PATH");
    return;
  }
  if (command !== undefined && address !== undefined) {
    invalid("has both command and url", "write two hooks, or remove one of the two");
    return;
  }
  for (const field of command === undefined ? commandFields : ["headers"]) {
    const entry = entryOf(node, field);
    if (entry === undefined) continue;
    place.reporter.report({
      code: "CONFIG_FIELD_MISPLACED",
      message: `Field ${quote(field)} belongs to a hook with ${command === undefined ? "command" : "url"}, but ${quote(place.path)} has ${command === undefined ? "url" : "command"}`,
      hint: "remove it",
      path: `${place.path}.${field}`,
      span: entry.keySpan,
    });
  }
  if (command !== undefined)
    warnOfArguments(textOf(command.value) ?? "", entryOf(node, "args")?.value, {
      ...place,
      path: `${place.path}.args`,
    });
  inspectScope(node, place, "network_egress", "egress_allow", "[api.example.com]");
}

const hookList = (description: string) =>
  list(hookShape, {
    description,
    maxItems: maxHooks,
    otherTypeHint: (node) => (node.kind === "map" ? "write each hook as an item: - name: NAME" : undefined),
    inspect: (_values, node, place) =>
      reportRepeated(node, place, "name", (name, lineNumber) => ({
        code: "CONFIG_ID_DUPLICATE",
        message: `Duplicate name ${quote(name)}: the hook in line ${lineNumber} has the same name`,
        hint: "give each hook of a list a different name",
      })),
  });

export const hooksShape = record({
  description:
    "Programs and URLs that are asked about calls. They allow, deny or replace; one that fails or does not answer in time denies.",
  fields: {
    before_call: hookList("Hooks that see the arguments before a call is made, in this order."),
    after_call: hookList(
      "Hooks that see the result before it is passed on, in this order. The call was made by then; a result that one denies is withheld.",
    ),
    max_running: integer({
      description: "Hooks that run at a time; the hooks of one client get at most half of them.",
      minimum: 2,
      maximum: 256,
      default: defaults.maxRunning,
    }),
    max_waiting: integer({
      description: "Hooks that wait for their turn at a time; above it, a hook denies.",
      minimum: 2,
      maximum: 10_000,
      default: defaults.maxWaiting,
    }),
    input_max_bytes: integer({
      description: "Largest question, in bytes. A call with a larger one is denied, or its result withheld.",
      minimum: 1024,
      maximum: 64 * 1024 ** 2,
      default: defaults.inputMaxBytes,
    }),
    answer_max_bytes: integer({
      description: "Largest answer, in bytes. A larger one is a failure.",
      minimum: 1024,
      maximum: 64 * 1024 ** 2,
      default: defaults.answerMaxBytes,
    }),
  },
  hints: {
    before: "did you mean before_call?",
    after: "did you mean after_call?",
    pre_call: "did you mean before_call?",
    post_call: "did you mean after_call?",
    limits: "write max_running, max_waiting, input_max_bytes and answer_max_bytes directly",
  },
});

/** `hooks` as it is written, with the place of each hook. */
export type HooksDocument = ValueOf<typeof hooksShape>;
type HookDocument = NonNullable<HooksDocument["before_call"]>[number];

/** `hooks` of one file: what depends on the place of a hook is translated with the file. */
export interface HooksLayer extends Omit<HooksDocument, "before_call" | "after_call"> {
  readonly before_call?: readonly HookConfig[] | undefined;
  readonly after_call?: readonly HookConfig[] | undefined;
}

/** Translates the hooks of a file. @param node the section */
export function toHooksLayer(
  document: HooksDocument | undefined,
  node: DocumentNode | undefined,
  source: Source,
): HooksLayer | undefined {
  if (document === undefined || node === undefined) return undefined;
  const translated = (field: "before_call" | "after_call") =>
    document[field]?.map((hook, at) => toHook(hook, nodeAt(node, [field, at]) ?? node, source));
  return { ...document, before_call: translated("before_call"), after_call: translated("after_call") };
}

function toHook(document: HookDocument, node: DocumentNode, source: Source): HookConfig {
  const { name: id, tools, clients, timeout_seconds: seconds = defaults.timeoutSeconds } = document;
  const literal = (value: string, ...path: (string | number)[]): ConfigText => ({
    kind: "literal",
    text: value,
    isSecret: false,
    span: nodeAt(node, path)?.span ?? node.span,
  });
  const { command = "", url: address, cwd } = document;
  const egress = toEgressAllow(document.egress_allow ?? []);
  const { span } = fieldOf(node, "name") ?? node;
  const common = { id, tools, clients, timeoutSeconds: seconds, source, span };
  if (address !== undefined) {
    const transport = {
      kind: "streamable_http",
      url: literal(address.trim(), "url"),
      headers: document.headers ?? {},
      allowHttp: false,
    } as const;
    return { ...common, transport, containment: undefined };
  }
  return {
    ...common,
    transport: {
      kind: "stdio",
      command: literal(command.trim(), "command"),
      args: (document.args ?? []).map((argument, at) => literal(argument, "args", at)),
      env: document.env ?? {},
      cwd: cwd === undefined ? undefined : literal(cwd, "cwd"),
    },
    containment: {
      networkEgress: document.network_egress ?? "deny",
      egressAllow: egress.hosts,
      egressPassthrough: egress.passedThrough,
      readPaths: document.read_paths ?? [],
    },
  };
}

/** Translates the section of all files together. */
export function toHooksConfig(document: HooksLayer | undefined): HooksConfig {
  return {
    before: document?.before_call ?? [],
    after: document?.after_call ?? [],
    limits: {
      maxRunning: document?.max_running ?? defaults.maxRunning,
      maxWaiting: document?.max_waiting ?? defaults.maxWaiting,
      inputMaxBytes: document?.input_max_bytes ?? defaults.inputMaxBytes,
      answerMaxBytes: document?.answer_max_bytes ?? defaults.answerMaxBytes,
    },
  };
}
