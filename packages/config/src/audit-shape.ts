/**
 * The section `audit`: the durability and retention of the audit trail, the places outside
 * the home that keep its signed ends, and the arguments that it does not show.
 */

import { choice, flag, integer, invalid, list, record, text, type ValueOf } from "@toolcrib/document";
import type { AuditConfig } from "./audit-config.ts";
import { toCompletePath } from "./egress-shape.ts";
import { policyPattern } from "./pattern-shape.ts";

/** Default values of `audit`. */
const defaults = { retentionMaxBytes: 4 * 1024 ** 3, retentionDays: 400 } as const;

const anchorShape = record({
  description:
    "Places outside the home that keep the signed end of the trail, once a minute and at shutdown. They show that the trail was written anew, also by somebody who has the key of the home.",
  name: "AuditAnchor",
  fields: {
    file: text({
      description:
        "A file that each signed end is appended to, as one line of JSON. Created for its owner only, never shortened. A path: absolute, below ~/, or relative to the folder of this file.",
      maxLength: 4096,
      examples: ["/mnt/worm/toolcrib-anchors.jsonl"],
    }),
    command: list(text({ description: "A word of the command.", minLength: 0, maxLength: 4096 }), {
      description:
        "A program and its arguments, started without a shell for each signed end, which it reads from standard input as one line of JSON. An exit code other than 0 is a failure.",
      maxItems: 100,
      emptyCode: "CONFIG_INVALID_VALUE",
      otherTypeHint: (node) =>
        node.kind === "scalar"
          ? "write the program and each argument as an item: [program, argument]"
          : undefined,
      inspect([program], node, place) {
        if (program?.trim() !== "") return;
        invalid(node, place, "The program of audit.anchor.command is empty", "write its name first");
      },
    }),
  },
  hints: {
    path: "write file: PATH",
    url: "write command: [curl, …], with a program that sends standard input",
  },
});

/** Most places of one rule. The other limits are those of policy patterns. */
const redactedMaxItems = 100;

const redaction = record({
  description: "Arguments of some tools that no record shows.",
  name: "AuditRedaction",
  fields: {
    tool: { required: policyPattern },
    arguments: {
      required: list(
        text({
          description:
            'The place of a value: names with dots between them, such as "password" or "user.token", or a JSON Pointer, such as "/user/token". * stands for any name or index.',
          maxLength: 1024,
          examples: ["password", "rows.*.email", "/headers/x-api-key", "*"],
          pattern: {
            source: "(?:/(?:[^~]|~[01])*|[^/.][^.]*(?:\\.[^.]+)*)",
            meaning: "names with single dots between them, or a JSON Pointer such as /user/token",
          },
        }),
        {
          description: "Values that are hidden, with everything in them. * alone hides all arguments.",
          maxItems: redactedMaxItems,
          emptyCode: "CONFIG_INVALID_VALUE",
        },
      ),
    },
  },
  hints: { tools: "write tool: PATTERN, one item for each pattern", args: "write arguments: [NAME]" },
});

export const auditShape = record({
  description: "The audit trail.",
  fields: {
    durability: choice({
      description:
        "process: a record survives the death of the process. fsync: it also survives the death of the machine, and calls are slower.",
      values: ["process", "fsync"],
      aliases: { none: "process", disk: "fsync", sync: "fsync", full: "fsync" },
      default: "process",
    }),
    retention_max_bytes: integer({
      description:
        "Most bytes of the trail; beyond this limit the oldest records are deleted, a segment of 64 MiB at a time. A million calls take about 1.3 GB.",
      minimum: 128 * 1024 * 1024,
      maximum: 2 ** 50,
      default: defaults.retentionMaxBytes,
    }),
    client_max_bytes_per_day: integer({
      description:
        "Most bytes of records that the calls of one client may cause in 24 hours; beyond this limit its calls are refused. Default: half of retention_max_bytes.",
      minimum: 1024 * 1024,
      maximum: 2 ** 50,
    }),
    retention_days: integer({
      description: "Days after which records are deleted. A jump of the clock counts as at most one day.",
      minimum: 1,
      maximum: 36_500,
      default: defaults.retentionDays,
    }),
    anchor: anchorShape,
    fingerprints: flag(
      "Whether records contain fingerprints of the values in arguments and results (HMAC under a key of the home), so that toolcrib audit find-value finds the calls that a value went through.",
      { default: true },
    ),
    redact: list(redaction, {
      description:
        "Arguments that records never show; approvals of calls do. Their digest is recorded nevertheless.",
      maxItems: 1000,
      otherTypeHint: (node) =>
        node.kind === "map" ? "write each rule as an item: - tool: PATTERN" : undefined,
    }),
  },
});

/** `audit` as written. */
export type AuditDocument = ValueOf<typeof auditShape>;

/** Returns `document` with complete paths. */
export function withCompleteAnchor(
  document: AuditDocument | undefined,
  fileName: string,
): AuditDocument | undefined {
  const file = document?.anchor?.file;
  if (file === undefined) return document;
  return { ...document, anchor: { ...document?.anchor, file: toCompletePath(file, fileName) } };
}

/** Translates `audit` and fills in its defaults. */
export function toAuditConfig(document: AuditDocument | undefined): AuditConfig {
  const retentionMaxBytes = document?.retention_max_bytes ?? defaults.retentionMaxBytes;
  const { file, command } = document?.anchor ?? {};
  return {
    durability: document?.durability ?? "process",
    retentionMaxBytes,
    clientMaxBytesPerDay: document?.client_max_bytes_per_day ?? Math.floor(retentionMaxBytes / 2),
    retentionDays: document?.retention_days ?? defaults.retentionDays,
    anchor: { ...(file === undefined ? {} : { file }), ...(command === undefined ? {} : { command }) },
    fingerprints: document?.fingerprints ?? true,
    redact: document?.redact ?? [],
  };
}
