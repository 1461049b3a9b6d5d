/**
 * The events of the audit trail: one data type for each type of event, and the
 * record of an event (CloudEvents 1.0, JSON format).
 *
 * All types of events are one piece: a reader of the trail finds every field here.
 * Types only. The caller redacts and digests: no field may contain a secret value
 * or raw arguments.
 */

import type { JsonValue } from "@toolcrib/json";
import type { PinKind } from "./pin-store.ts";
import type { Fingerprints } from "./value-fingerprints.ts";

/**
 * The client of a call. Records of one client have the same `issuer` and `subject`; two clients can have the same name.
 * Records of earlier versions have `kind` and `name` only.
 */
export interface AuditClient {
  /** Authority that authenticated the client: `toolcrib:token`, `toolcrib:cli`, …, or the URL of an identity provider. */
  readonly issuer?: string;
  /** Id of the client at its issuer; for a token, its name. */
  readonly subject?: string;
  /** In records of earlier versions: the issuer without `toolcrib:`. Not written any more. */
  readonly kind?: string;
  /** Name of the client, for people and for filters. */
  readonly name: string;
  /** Name and version that the client reports. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
}

/** The fields that all records of a call share. */
export interface AuditCallSubject {
  /** Never reused. */
  readonly callId: string;
  /** The call of the composite that made this inner call. */
  readonly parentId?: string;
  /** The call whose questions this one answers (`input_required`, 2026-07-28). */
  readonly continues?: string;
  /** 0 for a call by a client, one more for each level of inner calls. */
  readonly depth: number;
  readonly client: AuditClient;
  /** Owners of the saved tools around this call that are not approved: it also needs the permissions of each of them. */
  readonly owners?: readonly AuditClient[];
  /** Tool id, `namespace:name` with an optional `:version`. */
  readonly tool: string;
  /** `local`, `server`, `toolspec`, `package`, `saved` or `meta`. */
  readonly origin: string;
  /** Id of the tool server or toolspec, for tools that have one. */
  readonly server?: string;
}

/** The answer of a hook to the question about a call, or about its result. */
export interface HookRecord {
  /** Name of the hook. */
  readonly hook: string;
  /** `failed`: it gave no answer in time, which denies. */
  readonly decision: "allow" | "deny" | "replace" | "failed";
  readonly durationMs: number;
  /** Its message, or how it failed. */
  readonly reason?: string;
  /** Digests of what it replaced, and of what it put in its place, such as `sha256:…`. */
  readonly replacedDigest?: string;
  readonly digest?: string;
}

/** A call that is about to be dispatched. */
export interface CallIntent extends AuditCallSubject {
  /** Digest of the canonical arguments, such as `sha256:…`. */
  readonly argumentsDigest: string;
  /** The arguments, redacted by the caller. Omitted when the record would be too large. */
  readonly preview?: JsonValue;
  /** Fingerprints of values in the arguments, by their places (value-fingerprints.ts). Omitted when the record would be too large. */
  readonly fingerprints?: Fingerprints;
  readonly decision: "allow";
  /** Id of the policy rule that decided. */
  readonly rule?: string;
  /** Containment tier that the tool runs in. */
  readonly containment?: string;
  /** Id of the approval that it used up: its own, or that of the call around it, which showed it. */
  readonly approval?: string;
  /** Whether it was made before, in a call that is continued now: its result is used, and nothing is executed. */
  readonly isRepeated?: true;
  /** Labels of the data that its run had received; absent where no source has labels. */
  readonly labels?: readonly string[];
  /** Labels of the data that its client had received. */
  readonly seenLabels?: readonly string[];
  /** Hooks that were asked before the call. The digest of the arguments is that of what is sent. */
  readonly hooks?: readonly HookRecord[];
}

/** A dispatched call that has ended. */
export interface CallCompleted extends AuditCallSubject {
  /**
   * `tool_error`: the tool returned an error. `failed`: no result; `code` is the reason.
   * `unknown`: the process was killed while the call was in flight. The record is written
   * at the next start, and the tool may have been executed.
   */
  readonly outcome: "ok" | "tool_error" | "failed" | "cancelled" | "unknown";
  /** Error code of a failure, such as `UPSTREAM_TIMEOUT`. */
  readonly code?: string;
  /** Absent for `unknown`. */
  readonly durationMs?: number;
  /** Size of the result as JSON in UTF-8. */
  readonly resultBytes?: number;
  /** Labels of the data in its result; absent where no source has labels. */
  readonly labels?: readonly string[];
  /** Fingerprints of values in the result, by their places. Omitted when the record would be too large. */
  readonly fingerprints?: Fingerprints;
  /** Hooks that were asked about the result. */
  readonly hooks?: readonly HookRecord[];
}

/** A call that was not dispatched. It has no intent. */
export interface CallDenied extends AuditCallSubject {
  readonly outcome: "denied";
  readonly argumentsDigest?: string;
  /** The arguments, redacted by the caller. Omitted when the record would be too large. */
  readonly preview?: JsonValue;
  /** `deny`: not allowed. `approve`: needs an approval first. */
  readonly decision: "deny" | "approve";
  /** Id of the policy rule that decided. */
  readonly rule?: string;
  /** Error code of the refusal. */
  readonly code: string;
  readonly reason?: string;
  /** Id of the approval that it needs, or that it had. */
  readonly approval?: string;
  /** The approval that it had was given back, and is valid for the same call. */
  readonly isApprovalReturned?: true;
  readonly durationMs?: number;
  /** Hooks that were asked. */
  readonly hooks?: readonly HookRecord[];
}

/** The operator decided about a call that waited for approval. */
export interface CallDecided {
  /** Id of the approval. */
  readonly approval: string;
  /** The client that wants to make the call. */
  readonly client: AuditClient;
  /** Id of the tool. */
  readonly tool: string;
  readonly server: string;
  readonly argumentsDigest: string;
  readonly decidedBy: AuditClient;
  /** `elicitation`: the person at the client answered a form. Absent for the command line and the API. */
  readonly through?: "elicitation";
}

/** A call broke what the operator declared about its server (Declarative Tool Servers document, "Containment"). */
export interface CallViolation {
  readonly callId: string;
  readonly client: AuditClient;
  /** Id of the tool. */
  readonly tool: string;
  /** Id of the tool server. */
  readonly server?: string;
  /** Id of the rule, such as `mutability.read_only`. */
  readonly rule: string;
  /** The declaration of the tool that breaks the rule, or the one that it lacks, such as `it declares openWorldHint: true`. */
  readonly reason: string;
  /** `recorded`: the call was made nevertheless, as its server is `certified`. */
  readonly effect: "blocked" | "recorded";
}

/** A result of an unverified server has sentences that are addressed to a model. It was passed on: nothing is known by that alone. */
export interface ResultSuspicious {
  readonly callId: string;
  readonly client: AuditClient;
  /** Id of the tool, or of the resource or prompt. */
  readonly tool: string;
  readonly server?: string;
  /** At most 10: what each asks for, and where it is. Never the text. */
  readonly findings: readonly {
    readonly message: string;
    /** Member of the result, such as `content.0.text`. */
    readonly path: string;
    /** Position in the text, in UTF-16 units. */
    readonly offset: number;
  }[];
}

/** A tool server completed its first handshake, or the secrets of a toolspec were read. */
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

/** A tool server stopped. */
export interface ServerStopped {
  readonly server: string;
  readonly reason: string;
  /** Error code, unless it was stopped intentionally. */
  readonly code?: string;
}

/** A tool server, or one of its tools, must be approved before it is used. */
export interface ServerQuarantined {
  readonly server: string;
  /** The tool, when it is not the whole server. */
  readonly tool?: string;
  readonly reason: string;
  readonly code?: string;
}

/** A tool server lists another definition than the accepted one. */
export interface DefinitionChanged {
  readonly server: string;
  /** The kind of the definition. Records of earlier versions are about tools and do not have it. */
  readonly kind?: PinKind;
  /** Id of the tool, or of the prompt, resource, template or instructions, such as `files:prompts/greet`. */
  readonly tool: string;
  /** Digest of the definition that is listed now, such as `sha256:…`. */
  readonly digest: string;
  /** Digest of the definition that was accepted before. */
  readonly previousDigest: string;
  /** `quarantined`: it is not offered until the operator approves it. `accepted`: its server is `certified`. */
  readonly effect: "quarantined" | "accepted";
}

/** The operator approved a definition. */
export interface DefinitionApproved {
  readonly server: string;
  /** As in `DefinitionChanged`. */
  readonly kind?: PinKind;
  readonly tool: string;
  readonly digest: string;
  /** Digest of the definition that was accepted before; absent for a new one. */
  readonly previousDigest?: string;
  readonly approvedBy: AuditClient;
}

/** The operator paused something, or resumed it. A pause that expires leaves no record: `until` says when. */
export interface GuardPaused {
  readonly kind: "server" | "tool" | "client" | "all";
  /** Id of the server, id or pattern of the tools, or name of the client; absent for `all`. */
  readonly name?: string;
  readonly reason?: string;
  /** RFC 3339 time of its end; absent for a pause without one. */
  readonly until?: string;
  readonly by: AuditClient;
  /** Calls in flight at this gateway that were cancelled. */
  readonly cancelledCalls?: number;
}

/** The operator switched a server or tools on or off. */
export interface Switched {
  readonly kind: "server" | "tool";
  /** Id of the server, toolspec or package; name or pattern of the tools. */
  readonly name: string;
  readonly by: AuditClient;
}

/** The operator created the token of a client, or revoked it. */
export interface TokenEvent {
  /** Name of the token, which is that of its client. */
  readonly name: string;
  readonly by: AuditClient;
}

/** The file of a token has another token than before. Nobody knows who replaced it. */
export interface TokenReplaced {
  /** Name of the token, which is that of its client. */
  readonly name: string;
}

/** The gateway uses a configuration: from its start, or from a reload on. */
export interface ConfigChanged {
  /** The files, in the order in which they are merged. */
  readonly files: readonly string[];
  /** Digest of the resulting configuration. */
  readonly digest: string;
  /** Digest of the configuration before a reload; absent at a start. */
  readonly previousDigest?: string;
  /** Changed paths, such as `tool_servers.github`. Never values. */
  readonly changed?: readonly string[];
  /** Changed paths that apply after a restart only. */
  readonly needsRestart?: readonly string[];
  /** Why parts of the change are not in force. */
  readonly incomplete?: readonly string[];
  /** Servers whose containment allows more than before, with what opened, such as `network_egress from deny to allow`. Never empty. */
  readonly loosened?: readonly { readonly server: string; readonly changes: readonly string[] }[];
}

/** A changed configuration is not used, because it has errors. */
export interface ConfigRejected {
  /** The files, as the gateway was given them. */
  readonly files: readonly string[];
  /** Digest of the configuration that stays in force. */
  readonly digest: string;
  /** The errors with their places. */
  readonly problem: string;
}

/** An implementation of a package ran a call. Packages with a single endpoint leave none. */
export interface PackageRan {
  /** Id of the package: its toolId. */
  readonly server: string;
  readonly callId: string;
  /** Id of the implementation; absent where none could be started. */
  readonly implementation?: string;
  /** Implementations that could not be started before it, and why. */
  readonly passedOver?: readonly { readonly id: string; readonly reason: string }[];
}

/** A test of an installed package that passed before gave another result, or none, without a change of the package. */
export interface BehaviourChanged {
  /** Id of the package: its toolId. */
  readonly server: string;
  /** Path of the test in the package. */
  readonly test: string;
  /** `failed`: it does not pass; `shape`: its result has other members or types; `error`: there was no result. */
  readonly kind: "failed" | "shape" | "error";
  readonly reason: string;
  /** Digest of the archive. */
  readonly digest: string;
  /** `quarantined`: the tool is not offered until the operator releases it. `recorded`: it is offered as before. */
  readonly effect: "quarantined" | "recorded";
}

/** The operator released a package whose behaviour had changed. */
export interface BehaviourReleased {
  readonly server: string;
  readonly reason: string;
}

/** A change of a saved tool. */
export interface SavedToolEvent {
  /** Id of the saved tool, `saved:NAME`. */
  readonly tool: string;
  /** The client that made the change; absent for the operator. */
  readonly client?: AuditClient;
  /** Id of the call that made the change. */
  readonly byCall?: string;
  /** The client that the tool belongs to; absent for a tool of the operator. */
  readonly owner?: AuditClient;
  /** Digest of its code, such as `sha256:…`. */
  readonly codeDigest: string;
  /** Ids of the tools that it can call; for an approval, the additional ones. `*` means any tool. */
  readonly reach: readonly string[];
}

/** The fields of events about a request through the egress. Never a secret value. */
export interface EgressEventData {
  /** Id of the toolspec or tool server. */
  readonly server: string;
  /** The call that the request belongs to. */
  readonly callId?: string;
  readonly host: string;
}

/** A secret was injected into a request, or removed from a response. */
export interface SecretEvent extends EgressEventData {
  /** Id of the credential in the manifest. */
  readonly credential: string;
  /** Name of the secret. */
  readonly secret: string;
  /** Part of the response that contained it. */
  readonly where?: string;
}

/** A request was refused before it was sent. */
export interface EgressDenied extends EgressEventData {
  /** Error code, such as `EGRESS_HOST_DENIED`. */
  readonly code: string;
  readonly reason: string;
  /**
   * Repetitions that this record stands for; absent for the first refusal of a server, host and code. The host `*` stands
   * for those beyond 256 of a server, and the server `*` for those beyond 4,096 of all servers.
   */
  readonly count?: number;
}

/** A request contained the placeholder of a secret in a forbidden place: an attempt to obtain the secret. */
export interface EgressAlarm extends EgressEventData {
  /** Id of the credential of the placeholder, if it is valid. */
  readonly credential?: string;
  /** Id of the toolspec or tool server that owns the placeholder, if that is another one. */
  readonly owner?: string;
  /** The part of the request. */
  readonly where: string;
  /** Repetitions that this record stands for, as in `EgressDenied`. */
  readonly count?: number;
}

/** Written by the store: the key that signs what this writer records. It is the first record of each writer. */
export interface AuditKeyNamed {
  /** Digest of the public key (SHA-256 of its SPKI form), such as `sha256:…`. */
  readonly digest: string;
  readonly algorithm: "ed25519";
}

/**
 * Written by the store: a start found that the trail is not what was signed before, and went on. `audit verify` reports
 * it until an operator accepts it.
 */
export interface AuditDamaged {
  readonly findings: readonly {
    /**
     * `cut_off`, `changed`: the records up to the signed end. `head`: the signed end is missing or proves nothing. `writers`: so does the
     * list of writers, or an earlier one was put back. `key`: the key is another one. `unsigned`: records without a signature of
     * more than two minutes, or of another run than the one of the signed end, or after an end that a shutdown signed.
     */
    readonly what: "cut_off" | "changed" | "head" | "writers" | "key" | "unsigned";
    readonly message: string;
  }[];
  /** The signed end that the start found, if its signature is right. */
  readonly head?: {
    readonly writer: string;
    readonly sequence: number;
    readonly hash: string;
    readonly time: string;
    readonly closed?: true;
    readonly run?: string;
    readonly listNumber?: number;
    readonly signature: string;
  };
}

/** Written by the store: an operator accepted findings of a verification. */
export interface AuditAccepted {
  readonly findings: readonly {
    /** Digest of everything that identifies the finding. */
    readonly id: string;
    readonly message: string;
  }[];
  readonly reason: string;
  readonly by: AuditClient;
  /** Of all other fields, with the key of the home (Ed25519, base64). */
  readonly signature: string;
}

/** Written by the store: a segment was damaged, and writing continued after the damage. */
export interface AuditRecovered {
  /** File name of the segment. */
  readonly segment: string;
  /** `torn`: it ended in an unfinished line. `missing`: it was removed while it was in use. */
  readonly reason: "torn" | "missing";
  /** Offset of the unfinished line in bytes. */
  readonly position?: number;
  /** Length of the unfinished line. */
  readonly bytes?: number;
  /** Further unfinished lines, which starts left that were killed. One record names all, so that none is without explanation. */
  readonly others?: readonly {
    readonly segment: string;
    readonly position: number;
    readonly bytes: number;
  }[];
}

/** Written by the store: a segment is about to be deleted because of the retention limits. */
export interface AuditPruned {
  /** File name of the segment. */
  readonly segment: string;
  readonly bytes: number;
  /** Sequence numbers of its first record, and of the last one: that from which the next segment goes on. */
  readonly firstSequence?: string;
  readonly lastSequence?: string;
  /** Hash of that last record: `previous` of the record after it. */
  readonly lastHash?: string;
  /** The limit that it exceeds. `count`: in records of earlier versions. */
  readonly reason: "age" | "size" | "count";
  /** What was not as it was written in the segment, for people. Never empty. */
  readonly findings?: readonly string[];
}

/** Written by the store: records were discarded because the trail could not be written for too long. */
export interface AuditDropped {
  readonly count: number;
  /** RFC 3339 times of the first and the last discarded record. */
  readonly from: string;
  readonly to: string;
}

/** Written by the store: calls of a client were refused because it has used its budget of records, and not recorded one by one. */
export interface AuditLimited {
  readonly client: AuditClient;
  readonly count: number;
  /** RFC 3339 times of the first and the last refusal. */
  readonly from: string;
  readonly to: string;
  /** Bytes of records that a client may cause in 24 hours. */
  readonly limitBytes: number;
}

/** The operator removed the labels that a client had seen. */
export interface LabelsForgotten {
  readonly client: AuditClient;
  readonly labels: readonly string[];
}

/** Changed policy files are in force, or are not used because they are invalid. */
export interface PolicyEvent {
  /** Digest of the policies in force, such as `sha256:…`. */
  readonly digest: string;
  /** Digest of the policies that they replaced. */
  readonly previousDigest?: string;
  /** Why the files are not used, or how the engine failed. */
  readonly problem?: string;
}

/** The data of each type of event. */
export interface AuditEvents {
  readonly "call.intent": CallIntent;
  readonly "call.completed": CallCompleted;
  readonly "call.denied": CallDenied;
  readonly "containment.violation": CallViolation;
  readonly "mutability.violation": CallViolation;
  readonly "result.suspicious": ResultSuspicious;
  readonly "server.started": ServerStarted;
  readonly "server.stopped": ServerStopped;
  readonly "server.quarantined": ServerQuarantined;
  readonly "definition.changed": DefinitionChanged;
  readonly "definition.approved": DefinitionApproved;
  readonly "config.changed": ConfigChanged;
  readonly "config.rejected": ConfigRejected;
  readonly "policy.changed": PolicyEvent;
  readonly "policy.rejected": PolicyEvent;
  readonly "policy.failed": PolicyEvent;
  readonly "labels.forgotten": LabelsForgotten;
  readonly "package.ran": PackageRan;
  readonly "behaviour.changed": BehaviourChanged;
  readonly "behaviour.released": BehaviourReleased;
  readonly "tool.saved": SavedToolEvent;
  readonly "tool.deleted": SavedToolEvent;
  /** The reach of a saved tool grew, and the tool is not called before it is approved. */
  readonly "approval.requested": SavedToolEvent;
  readonly "approval.granted": SavedToolEvent;
  readonly "approval.call.granted": CallDecided;
  readonly "approval.call.denied": CallDecided;
  readonly "guard.paused": GuardPaused;
  readonly "guard.resumed": GuardPaused;
  readonly "switch.enabled": Switched;
  readonly "switch.disabled": Switched;
  readonly "token.created": TokenEvent;
  readonly "token.revoked": TokenEvent;
  /** Recorded by a gateway that runs when it reads the file again, also where the token was revoked and created again meanwhile. */
  readonly "token.replaced": TokenReplaced;
  readonly "secret.used": SecretEvent;
  /** The response to a request contained the secret that was sent with it. */
  readonly "secret.echoed": SecretEvent;
  readonly "egress.denied": EgressDenied;
  readonly "egress.alarm": EgressAlarm;
  readonly "audit.key": AuditKeyNamed;
  readonly "audit.damaged": AuditDamaged;
  readonly "audit.accepted": AuditAccepted;
  readonly "audit.recovered": AuditRecovered;
  readonly "audit.pruned": AuditPruned;
  readonly "audit.dropped": AuditDropped;
  readonly "audit.limited": AuditLimited;
}

/** The name of an event, such as `call.intent`. */
export type AuditEventType = keyof AuditEvents;

/** The events that `AuditStore.record` takes: all except intents and the events that the store writes itself. */
export type RecordableEventType = Exclude<AuditEventType, "call.intent" | `audit.${string}`>;

interface Envelope<Type extends AuditEventType> {
  readonly specversion: "1.0";
  /** Unique: identifies the run of the writer and the record in it. */
  readonly id: string;
  /** CloudEvents source, a URI reference. */
  readonly source: string;
  readonly type: Type;
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  /** Writer number in this home: three digits. */
  readonly writer: string;
  /** Sequence number of the writer: 16 digits, from 1, without a gap, across all runs. */
  readonly sequence: string;
  /** SHA-256 of the line before it of the same writer, 64 hexadecimal digits; absent in records of earlier versions. */
  readonly previous?: string;
  readonly data: AuditEvents[Type];
  /** Present when data was omitted or truncated to keep the record within its limit. */
  readonly truncated?: true;
}

/** One line of the trail. A trail that a newer version wrote can contain types that are not listed here. */
export type AuditRecord<Type extends AuditEventType = AuditEventType> = {
  readonly [Each in Type]: Envelope<Each>;
}[Type];

/** The position of a record in the order of all records. Every `AuditRecord` is one. */
export type AuditPosition = Pick<AuditRecord, "time" | "writer" | "sequence">;
