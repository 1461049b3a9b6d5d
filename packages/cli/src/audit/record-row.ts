/** Formats audit records and call trees for people. Escapes foreign text, so that it cannot control a terminal. */

import type { AuditCall, AuditClient, AuditRecord } from "@toolcrib/store";
import { issuerName } from "@toolcrib/tool";
import { wrapProse } from "../output/fit-styled.ts";
import { type Output, type Style, safeLine } from "../output/output.ts";
import type { Column } from "../output/table.ts";
import { detailOf, subjectOf } from "./record-detail.ts";

/** Length of a call id prefix that identifies a call: its time and 12 more bits. */
export const shortIdLength = 18;

/** The style of each outcome. */
export const outcomeStyles: { readonly [outcome: string]: Style } = {
  ok: "green",
  tool_error: "yellow",
  failed: "red",
  cancelled: "yellow",
  unknown: "red",
  denied: "magenta",
};

/** Terminal width from which all columns are shown. */
export const wideColumns = 110;

/** The cells of a record. */
export interface RecordCells {
  readonly time: string;
  /** The outcome of a call, or the type of the record. */
  readonly what: string;
  /** The tool or the server. */
  readonly subject: string;
  readonly client: string;
  readonly took: string;
  /** A prefix of the id of the call, by which commands find it. */
  readonly call: string;
  readonly detail: string;
}

/** Returns the columns of `recordRow`, for a terminal that is wide enough. */
export function recordColumns(output: Output): readonly Column[] {
  const paint = (cell: string) => output.style(outcomeStyles[cell.trim()] ?? "cyan", cell);
  return [
    { title: "TIME" },
    { title: "WHAT", paint },
    { title: "TOOL OR SERVER", canShrink: true, isName: true, isBelow: true },
    { title: "CLIENT", canShrink: true },
    { title: "TOOK" },
    { title: "CALL" },
    { title: "DETAIL", canShrink: true },
  ];
}

/** Returns the table row of a record, for `recordColumns`. */
export function recordRow(record: AuditRecord): string[] {
  const { time, what, subject, client, took, call, detail } = recordCells(record);
  return [time, what, subject, client, took, call, detail];
}

/** Returns the cells of a record. */
export function recordCells(record: AuditRecord): RecordCells {
  const data = record.data as unknown as { readonly [field: string]: unknown };
  const client = (data["client"] ?? data["by"] ?? data["approvedBy"]) as
    | { readonly name?: string }
    | undefined;
  return {
    time: record.time.replace("T", " ").replace(/\.\d+Z$/, "Z"),
    what: safeLine(eventOf(record)),
    subject: safeLine(subjectOf(record)),
    client: safeLine(client?.name ?? ""),
    took: tookOf(data["durationMs"]),
    call: safeLine(String(data["callId"] ?? "").slice(0, shortIdLength)),
    detail: safeLine(detailOf(record)),
  };
}

function eventOf(record: AuditRecord): string {
  const { outcome } = record.data as { readonly outcome?: string };
  if (outcome !== undefined) return outcome;
  return record.type === "call.intent" ? "started" : record.type;
}

/** Returns a duration for people. */
export function tookOf(durationMs: unknown): string {
  if (typeof durationMs !== "number") return "";
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}

/** Returns a call and its inner calls as the lines of a tree. */
export function callTree(call: AuditCall, output: Output): string[] {
  const lines: string[] = [];
  const add = (one: AuditCall, first: string, others: string) => {
    lines.push(`${first}${callLine(one, output)}`);
    const inner = one.calls;
    for (const [at, next] of inner.entries()) {
      const isLast = at === inner.length - 1 && one.truncated !== true;
      add(next, `${others}${isLast ? "└─ " : "├─ "}`, `${others}${isLast ? "   " : "│  "}`);
    }
    if (one.truncated === true) lines.push(`${others}└─ more calls, not shown`);
  };
  add(call, "", "");
  return [...lines, "", ...callFacts(call, output)];
}

function callLine({ callId, intent, completion }: AuditCall, output: Output): string {
  const data = completion?.data ?? intent?.data;
  const outcome = completion?.data.outcome ?? "not completed";
  const took = tookOf(completion?.data.durationMs);
  const id = output.style("dim", safeLine(callId.slice(0, shortIdLength)));
  const shown = output.style(outcomeStyles[outcome] ?? "yellow", outcome);
  return [safeLine(data?.tool ?? "unknown tool"), shown, took, id].filter((part) => part !== "").join("  ");
}

/** Returns the name of a client and its issuer, with its subject where that is not the name. */
export function shownClient({ name, subject = name, issuer, kind }: AuditClient): string {
  const shownIssuer = issuer === undefined ? kind : issuerName({ issuer });
  return `${name} (${subject === name ? "" : `${subject}, `}${shownIssuer ?? "unknown issuer"})`;
}

/** Columns before the value of a fact. */
const factIndent = 10;

/** Wraps a sentence after the name of a fact; its further lines begin below it. */
function wrapFact(text: string, { isTerminal, width }: Output): readonly string[] {
  if (!isTerminal) return [text];
  return wrapProse(text, width - factIndent).map((line, at) =>
    at === 0 ? line : `${" ".repeat(factIndent)}${line.trimStart()}`,
  );
}

/** Returns the remaining facts about the outermost call. */
function callFacts({ callId, intent, completion }: AuditCall, output: Output): string[] {
  const data = intent?.data ?? completion?.data;
  const ended = completion?.data;
  const preview = intent?.data.preview ?? (ended?.outcome === "denied" ? ended.preview : undefined);
  const software = data?.client.clientInfo;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["call", callId],
    ["caller", data === undefined ? undefined : shownClient(data.client)],
    ["software", software === undefined ? undefined : `${software.name} ${software.version}`],
    ["parent", data?.parentId],
    ["began", intent?.time],
    ["ended", completion?.time],
    ["rule", (intent?.data ?? (ended?.outcome === "denied" ? ended : undefined))?.rule],
    ["code", ended?.code],
    ["reason", ended?.outcome === "denied" ? ended.reason : undefined],
    ["arguments", preview === undefined ? undefined : JSON.stringify(preview)],
    ["digest", intent?.data.argumentsDigest],
    [
      "result",
      ended?.outcome !== "denied" && ended?.resultBytes !== undefined
        ? `${ended.resultBytes} bytes`
        : undefined,
    ],
  ];
  return facts.flatMap(([name, value]) => {
    if (value === undefined) return [];
    const [first = "", ...others] = name === "reason" ? wrapFact(safeLine(value), output) : [safeLine(value)];
    return [`${output.style("dim", name.padEnd(factIndent))}${first}`, ...others];
  });
}
