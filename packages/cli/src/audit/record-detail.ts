/** The facts of a record beside its type, tool and client, as one line for people. The caller makes the text safe for a terminal. */

import type { AuditRecord } from "@toolcrib/store";
import { counted } from "../output/counted.ts";

type Fields = { readonly [field: string]: unknown };

/** Digits of a digest that are shown. */
const digestLength = 12;

/** Returns the tool, the server or the other object that a record is about. */
export function subjectOf({ type, data }: AuditRecord): string {
  const { tool, server, kind, name, segment } = data as unknown as Fields;
  if (type === "guard.paused" || type === "guard.resumed")
    return kind === "all" ? "everything" : textOf(name);
  if (type === "switch.enabled" || type === "switch.disabled") return textOf(name);
  if (type.startsWith("token.")) return textOf(name);
  return textOf(tool ?? server ?? segment);
}

/** Returns the detail of a record. A record of a later version can have any data. */
export function detailOf({ type, data }: AuditRecord): string {
  const fields = data as unknown as Fields;
  const own = details[type]?.(fields);
  if (own !== undefined) return own;
  const { effect, rule, code, reason } = fields;
  if (effect !== undefined && rule !== undefined)
    return `${textOf(effect)} by ${textOf(rule)}: ${textOf(reason)}`;
  return joined(": ", code, reason);
}

const details: { readonly [Type in string]?: (fields: Fields) => string } = {
  "call.intent": ({ preview }) => (preview === undefined ? "" : JSON.stringify(preview)),
  "server.started": ({ toolCount, containment }) =>
    joined(", ", typeof toolCount === "number" ? counted(toolCount, "tool") : undefined, containment),
  "result.suspicious": ({ findings }) =>
    findingsOf(findings, ({ message, path }) => `${textOf(path)}: ${textOf(message)}`),
  "definition.changed": (fields) => joined(": ", fields["effect"], changeOf(fields)),
  "definition.approved": changeOf,
  "package.ran": ({ implementation, passedOver }) =>
    joined(
      "; not started: ",
      implementation === undefined
        ? "no implementation could be started"
        : `ran as ${textOf(implementation)}`,
      findingsOf(passedOver ?? [], ({ id, reason }) => `${textOf(id)} (${textOf(reason)})`) || undefined,
    ),
  "behaviour.changed": ({ effect, test, kind, reason }) => joined(": ", effect, test, kind, reason),
  "config.changed": ({ files, changed, loosened = [] }) =>
    joined(
      "; ",
      joined("; changed: ", listOf(files), listOf(changed) || undefined),
      ...(Array.isArray(loosened) ? loosened : []).map(openedOf),
    ),
  "config.rejected": ({ problem, digest }) => joined("; in force: ", problem, shortDigest(digest)),
  "policy.changed": digestsOf,
  "policy.rejected": ({ problem, digest }) => joined("; in force: ", problem, shortDigest(digest)),
  "policy.failed": ({ problem, digest }) => joined("; in force: ", problem, shortDigest(digest)),
  "labels.forgotten": ({ labels }) => listOf(labels),
  "guard.paused": pauseOf,
  "guard.resumed": pauseOf,
  "switch.enabled": ({ kind }) => textOf(kind),
  "switch.disabled": ({ kind }) => textOf(kind),
  "tool.saved": reachOf,
  "tool.deleted": reachOf,
  "approval.requested": reachOf,
  "approval.granted": reachOf,
  "approval.call.granted": decisionOf,
  "approval.call.denied": decisionOf,
  "secret.used": secretOf,
  "secret.echoed": secretOf,
  "egress.denied": ({ host, code, reason, count }) => joined(": ", host, code, reason, timesOf(count)),
  "egress.alarm": ({ host, where, credential, count }) =>
    joined(", ", host, where, credential, timesOf(count)),
  "audit.key": ({ digest }) => `signed with key ${shortDigest(digest) ?? ""}`,
  "audit.damaged": ({ findings }) => findingsOf(findings, ({ message }) => textOf(message)),
  "audit.accepted": ({ findings, reason }) =>
    `${counted(Array.isArray(findings) ? findings.length : 0, "finding")}: ${textOf(reason)}`,
  "audit.recovered": ({ reason, position, bytes }) =>
    reason === "torn"
      ? `an unfinished line of ${textOf(bytes)} bytes at byte ${textOf(position)}, which a crash left`
      : "the segment was removed while it was in use",
  "audit.pruned": ({ firstSequence, lastSequence, reason }) =>
    `records ${Number(firstSequence)} to ${Number(lastSequence)} deleted by ${textOf(reason)}`,
  "audit.dropped": ({ count, from, to }) =>
    `${textOf(count)} records lost from ${textOf(from)} to ${textOf(to)}`,
  "audit.limited": ({ count }) => `${textOf(count)} refused calls`,
};

function openedOf(loosened: unknown): string {
  const { server, changes } = (loosened ?? {}) as Fields;
  return `${textOf(server)} may do more: ${listOf(changes)}`;
}

function changeOf(fields: Fields): string {
  return joined(" ", fields["kind"], digestsOf(fields));
}

function digestsOf({ digest, previousDigest }: Fields): string {
  return joined(" to ", shortDigest(previousDigest), shortDigest(digest));
}

function pauseOf({ kind, reason, until, cancelledCalls }: Fields): string {
  return joined(
    ", ",
    kind === "all" ? undefined : kind,
    until === undefined ? undefined : `until ${textOf(until)}`,
    typeof cancelledCalls === "number" && cancelledCalls > 0
      ? `${counted(cancelledCalls, "call")} cancelled`
      : undefined,
    reason,
  );
}

function reachOf({ reach, codeDigest }: Fields): string {
  const reached = listOf(reach);
  return joined(
    ", ",
    `code ${shortDigest(codeDigest) ?? ""}`,
    reached === "" ? "calls no tool" : `calls ${reached}`,
  );
}

function decisionOf({ approval, through, decidedBy }: Fields): string {
  const { name } = (decidedBy ?? {}) as Fields;
  return joined(" by ", approval, through ?? name);
}

function secretOf({ secret, host, where }: Fields): string {
  return joined(", ", secret, host, where);
}

function findingsOf(findings: unknown, line: (finding: Fields) => string): string {
  return Array.isArray(findings) ? findings.map((one) => line((one ?? {}) as Fields)).join("; ") : "";
}

function listOf(values: unknown): string {
  return Array.isArray(values) ? values.map(textOf).join(", ") : "";
}

function shortDigest(digest: unknown): string | undefined {
  return typeof digest === "string" ? digest.replace(/^sha256:/, "").slice(0, digestLength) : undefined;
}

function joined(separator: string, ...parts: readonly unknown[]): string {
  return parts
    .filter((part) => part !== undefined && part !== "")
    .map(textOf)
    .join(separator);
}

/** How often what the record is about happened again. */
function timesOf(count: unknown): string | undefined {
  return typeof count === "number" ? counted(count, "time") : undefined;
}

function textOf(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
