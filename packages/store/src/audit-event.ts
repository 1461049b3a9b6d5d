/**
 * What the audit trail can hold: one data type for each type of event, and the
 * record that an event becomes (CloudEvents 1.0, JSON format).
 *
 * Types only. The caller redacts and digests: a secret value or raw arguments
 * must never be put into one of these fields.
 */

import type { JsonValue } from "@toolcrib/json";

/** Who called. */
export interface AuditClient {
  /** How the identity was established: `token`, `stdio`, `library`, `cli`, `anonymous`. */
  readonly kind: string;
  /** The identity's stable name. */
  readonly name: string;
  /** What the client's software says of itself. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
}

/** Which call, of which tool, by whom: the part that all records of a call share. */
export interface AuditCallSubject {
  /** Unique for ever. */
  readonly callId: string;
  /** The call that made this one (a composite's), if any. */
  readonly parentId?: string;
  /** 0 for a client's own call. */
  readonly depth: number;
  readonly client: AuditClient;
  /** Tool id, `namespace:name` with an optional `:version`. */
  readonly tool: string;
  /** `local`, `server`, `toolspec`, `package`, `saved` or `meta`. */
  readonly origin: string;
  /** Id of the tool server or toolspec, for tools that have one. */
  readonly server?: string;
}

/** A call that is about to be dispatched. */
export interface CallIntent extends AuditCallSubject {
  /** Digest of the canonical arguments, such as `sha256:…`. */
  readonly argumentsDigest: string;
  /** The arguments, redacted by the caller. Left out when the record would be too large. */
  readonly preview?: JsonValue;
  readonly decision: "allow";
  /** Id of the rule that decided. */
  readonly rule?: string;
  /** Containment tier that the tool runs in. */
  readonly containment?: string;
}

/** A dispatched call that has ended. */
export interface CallCompleted extends AuditCallSubject {
  /** `tool_error`: the tool answered with an error. `failed`: no answer; `code` says why. */
  readonly outcome: "ok" | "tool_error" | "failed" | "cancelled";
  /** Error code of a failure, such as `UPSTREAM_TIMEOUT`. */
  readonly code?: string;
  readonly durationMs: number;
  /** Size of the result as JSON in UTF-8. */
  readonly resultBytes?: number;
}

/** A call that was not dispatched: it has no intent. */
export interface CallDenied extends AuditCallSubject {
  readonly outcome: "denied";
  readonly argumentsDigest?: string;
  /** The arguments, redacted by the caller. Left out when the record would be too large. */
  readonly preview?: JsonValue;
  /** `deny`: never. `approve`: not before somebody approves it. */
  readonly decision: "deny" | "approve";
  /** Id of the rule that decided. */
  readonly rule?: string;
  /** Error code of the refusal. */
  readonly code: string;
  readonly reason?: string;
  readonly durationMs?: number;
}

/** A tool server made first contact, or a toolspec has its secrets. */
export interface ServerStarted {
  readonly server: string;
  /** `stdio`, `sse`, `streamable_http`, or `toolspec`. */
  readonly transport: string;
  /** Containment tier that its process runs in. */
  readonly containment?: string;
  readonly protocolVersion?: string;
  readonly toolCount?: number;
  readonly durationMs?: number;
}

/** A tool server is gone. */
export interface ServerStopped {
  readonly server: string;
  readonly reason: string;
  /** Error code, when it did not stop on purpose. */
  readonly code?: string;
}

/** A tool server, or one tool of it, may not be used until it is approved. */
export interface ServerQuarantined {
  readonly server: string;
  /** The tool, when it is not the whole server. */
  readonly tool?: string;
  readonly reason: string;
  readonly code?: string;
}

/** The gateway runs with another configuration from here on. */
export interface ConfigChanged {
  /** The files in the order in which they compose. */
  readonly files: readonly string[];
  /** Digest of the resulting configuration. */
  readonly digest: string;
  /** Digest of the configuration before, if there was one. */
  readonly previousDigest?: string;
  /** Paths of what changed, such as `tool_servers.github`. Never values. */
  readonly changed?: readonly string[];
}

/** Something happened to a saved tool. */
export interface SavedToolEvent {
  /** Id of the saved tool, `saved:NAME`. */
  readonly tool: string;
  /** Who did it; absent when the operator did. */
  readonly client?: AuditClient;
  /** Id of the call in which it was done. */
  readonly byCall?: string;
  /** Digest of its code, such as `sha256:…`. */
  readonly codeDigest: string;
  /** Ids of the tools that it can call; of an approval, those that it is about. `*` stands for any. */
  readonly reach: readonly string[];
}

/** Something about a request that went out, or was to go out, through the egress. Never a value. */
export interface EgressEventData {
  /** Id of the toolspec or tool server that it is about. */
  readonly server: string;
  /** The call that the request belongs to. */
  readonly callId?: string;
  readonly host: string;
}

/** A secret was put into a request, or taken out of a response. */
export interface SecretEvent extends EgressEventData {
  /** Id of the credential in the manifest. */
  readonly credential: string;
  /** The name that the secret is kept under. */
  readonly secret: string;
  /** Where in the response it stood. */
  readonly where?: string;
}

/** A request was refused before it was sent. */
export interface EgressDenied extends EgressEventData {
  /** Error code, such as `EGRESS_HOST_DENIED`. */
  readonly code: string;
  readonly reason: string;
}

/** A placeholder for a secret stood where none belongs: somebody tries to get at the secret. */
export interface EgressAlarm extends EgressEventData {
  /** Id of the credential that it stands for, where it stands for one. */
  readonly credential?: string;
  /** Id of the toolspec or tool server that it was given to, where that is another. */
  readonly owner?: string;
  /** Which part of the request. */
  readonly where: string;
}

/** Written by the store: a segment was found damaged and writing went on behind the damage. */
export interface AuditRecovered {
  /** File name of the segment. */
  readonly segment: string;
  /** `torn`: it ended in an unfinished line. `missing`: it was removed while it was written to. */
  readonly reason: "torn" | "missing";
  /** Where the unfinished line starts, in bytes. */
  readonly position?: number;
  /** Length of the unfinished line. */
  readonly bytes?: number;
}

/** Written by the store: a segment is deleted next, as the retention limits ask. */
export interface AuditPruned {
  /** File name of the segment. */
  readonly segment: string;
  readonly bytes: number;
  /** Sequence numbers of its first and last record. */
  readonly firstSequence?: string;
  readonly lastSequence?: string;
  /** Which limit asked for it. */
  readonly reason: "age" | "count";
}

/** Written by the store: records were discarded because the trail could not be written for too long. */
export interface AuditDropped {
  readonly count: number;
  /** RFC 3339 times of the first and the last discarded record. */
  readonly from: string;
  readonly to: string;
}

/** The type of data of each type of event. */
export interface AuditEvents {
  readonly "call.intent": CallIntent;
  readonly "call.completed": CallCompleted;
  readonly "call.denied": CallDenied;
  readonly "server.started": ServerStarted;
  readonly "server.stopped": ServerStopped;
  readonly "server.quarantined": ServerQuarantined;
  readonly "config.changed": ConfigChanged;
  readonly "tool.saved": SavedToolEvent;
  readonly "tool.deleted": SavedToolEvent;
  /** A saved tool came to reach more, and is not called before somebody agrees. */
  readonly "approval.requested": SavedToolEvent;
  readonly "approval.granted": SavedToolEvent;
  readonly "secret.used": SecretEvent;
  /** The response to a request held the secret that was sent with it. */
  readonly "secret.echoed": SecretEvent;
  readonly "egress.denied": EgressDenied;
  readonly "egress.alarm": EgressAlarm;
  readonly "audit.recovered": AuditRecovered;
  readonly "audit.pruned": AuditPruned;
  readonly "audit.dropped": AuditDropped;
}

/** The name of an event, such as `call.intent`. */
export type AuditEventType = keyof AuditEvents;

/** What `audit.record` takes: everything but intents and what the store writes by itself. */
export type RecordableEventType = Exclude<AuditEventType, "call.intent" | `audit.${string}`>;

interface Envelope<Type extends AuditEventType> {
  readonly specversion: "1.0";
  /** Unique: names the run of the writer and the record in it. */
  readonly id: string;
  /** CloudEvents source, a URI reference. */
  readonly source: string;
  readonly type: Type;
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  /** Which writer of this home wrote it: three digits. */
  readonly writer: string;
  /** Position among the records of its writer: 16 digits, from 1, without a gap, over all runs. */
  readonly sequence: string;
  readonly data: AuditEvents[Type];
  /** Set when data was left out or cut to keep the record within its limit. */
  readonly truncated?: true;
}

/** One line of the trail. A trail that a newer version wrote can hold types that are not listed here. */
export type AuditRecord<Type extends AuditEventType = AuditEventType> = {
  readonly [Each in Type]: Envelope<Each>;
}[Type];

/** The place of a record in the order of all records; every `AuditRecord` is one. */
export type AuditPosition = Pick<AuditRecord, "time" | "writer" | "sequence">;
