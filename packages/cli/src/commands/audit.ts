/** `toolcrib audit`. */

import { auditOutcomes, parseSince } from "../audit/audit-filter.ts";
import { exportFormats } from "../audit/export-format-names.ts";
import { parseRecordTypes } from "../audit/record-types.ts";
import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { wholeNumber } from "../option-values.ts";

const load = () => import("../audit/show-audit.ts");

/** Options that select records. */
const filters = {
  client: { value: "name", help: "only calls of this client (the name of its token, or cli)" },
  issuer: {
    value: "issuer",
    help: "only calls of clients of this issuer (token, cli, stdio, library, anonymous, or a URL)",
  },
  subject: { value: "id", help: "only calls of the client with this id at its issuer" },
  tool: { value: "id", help: "only this tool, such as files:read_file or files:*" },
  type: {
    value: "type",
    parse: parseRecordTypes,
    help: "only records of this type, such as egress.denied or approval.*",
  },
  outcome: { value: "outcome", choices: auditOutcomes, help: "only calls with this outcome" },
  since: {
    value: "time",
    parse: parseSince,
    help: "only records since then: 15m, 1h, 7d, or a date and time",
  },
  until: { value: "time", parse: parseSince, help: "only records before then, in the same notation" },
} as const;

const limit = {
  short: "n",
  value: "count",
  parse: wholeNumber(1, 1000),
  help: "most records, 1 to 1000",
} as const;

const long = {
  help: "also ids of calls and details on a terminal of less than 110 columns, which otherwise shows a line for each record, or two where its tool has no room",
} as const;

export const command: CliCommandGroup = {
  name: "audit",
  summary: "show tool calls, their callers and their outcomes",
  commands: [
    defineCommand({
      name: "list",
      summary: "list records, newest first",
      options: { ...filters, limit: { ...limit, default: 50 }, long },
      examples: [
        "toolcrib audit list --since 1h --outcome denied",
        "toolcrib audit list --type egress.denied",
      ],
      run: async (context, _args, options) => (await load()).listRecords(context, options),
    }),
    defineCommand({
      name: "show",
      summary: "show a call and its inner calls as a tree",
      arguments: { call: { completes: "call", help: "call id, or a prefix that is unique" } },
      run: async (context, args) => (await load()).showCall(context, args.call),
    }),
    defineCommand({
      name: "find-value",
      summary:
        "show the calls whose arguments or results contained a value; reads it from standard input or a prompt",
      options: filters,
      examples: ["toolcrib audit find-value --since 7d"],
      // The command itself refuses excess words: it explains why, and does not repeat a value.
      acceptsExcess: true,
      run: async (context, _args, options, excess) =>
        (await import("../audit/find-value.ts")).findValue(context, options, excess.length > 0),
    }),
    defineCommand({
      name: "export",
      summary: "write the records for another program, oldest first",
      options: {
        format: {
          value: "format",
          choices: exportFormats,
          default: "jsonl",
          help: "jsonl: records as they are stored; csv: a table; otlp-json: OpenTelemetry logs",
        },
        ...filters,
        output: {
          short: "o",
          value: "file",
          help: "write to this file, in one step (default: standard output)",
        },
        proof: {
          value: "file",
          help: "also write what audit verify --export needs to this file: the signed ends of the trail and the public key; records after these ends are left out",
        },
        force: { help: "replace files that exist" },
      },
      examples: [
        "toolcrib audit export --since 7d --output week.jsonl",
        "toolcrib audit export --format csv --outcome denied",
        "toolcrib audit export --output trail.jsonl --proof trail.proof.json",
      ],
      run: async (context, _args, options) =>
        (await import("../audit/export-audit.ts")).exportAudit(context, options),
    }),
    defineCommand({
      name: "verify",
      summary:
        "verify that no record was changed, removed, inserted, moved or cut off (exit code 1; 5 if that cannot be read)",
      options: {
        anchor: {
          value: "file",
          help: "also compare the trail with the signed ends in this file, which audit.anchor keeps outside the home",
        },
        accept: {
          value: "reason",
          help: "put what is found on record, so that only new findings are reported from now on",
        },
        export: {
          value: "file",
          help: "verify this file, which audit export wrote without a selection, instead of the trail of the home",
        },
        proof: { value: "file", help: "with --export: the proof that audit export --proof wrote" },
        key: {
          value: "key",
          help: "with --proof: the key that must have signed it, as a file (PEM) or a digest (sha256:…)",
        },
      },
      examples: [
        "toolcrib audit verify --anchor /mnt/worm/toolcrib-anchors.jsonl",
        'toolcrib audit verify --accept "restored from the backup of Monday"',
        "toolcrib audit verify --export trail.jsonl --proof trail.proof.json --key gateway.pub.pem",
      ],
      run: async (context, _args, options) =>
        (await import("../audit/verify-audit.ts")).verifyAudit(context, options),
    }),
    defineCommand({
      name: "tail",
      summary: "show the last records, oldest first",
      options: {
        ...filters,
        limit: { ...limit, default: 10 },
        long,
        follow: {
          short: "f",
          help: "continue with new records until Ctrl-C; with --json, one document per line",
        },
      },
      run: async (context, _args, options) => (await load()).tailRecords(context, options),
    }),
  ],
};
