/**
 * The facts about a source of tools: everything that the gateway needs to know
 * about it besides its tools. The code that opens a source states them once;
 * all other code asks for the fact that it needs and never for the kind of the
 * source. Data only.
 */

import type { FeaturePinning } from "@toolcrib/admission";
import type { JsonObject } from "@toolcrib/json";
import type { ContainmentPart, ServerTrust } from "@toolcrib/policy";
import type { Tool } from "@toolcrib/tool";

/** The class of a backend, by which a selector chooses when a tool has several (registry document, Execution). */
export type BackendKind = "local" | "provider" | "mcp";

/** A member of a status that lists configured sources. */
export type SourceGroup = "servers" | "toolspecs" | "packages";

/** Details of a source for its status. Each kind of source has those that apply to it. */
export interface SourceDetails {
  readonly name?: string;
  readonly title?: string;
  readonly version?: string;
  readonly trustState?: string;
  readonly mutabilityClass?: string;
  /** The containment in effect, declared or by default, and what of it is enforced. */
  readonly containment?: {
    readonly networkEgress: string;
    readonly filesystemWrite: string;
    readonly maxExecutionSeconds: number;
    /** Hosts whose TLS is passed on unread: a server behind them can be asked for other hosts (fronting). */
    readonly frontingHosts?: readonly string[];
    /** The tier of the sandbox of a process: `sandbox` before the first start, `none` without one. */
    readonly tier?: string;
    /** Why a process that needs a sandbox runs without one. */
    readonly uncontainedReason?: string;
    /** Present where the scoped network of a process has no names (DNS) until its next start, because its trial had no result. */
    readonly lacksNames?: true;
    /** Whether every part that restricts the source is enforced. */
    readonly enforced: boolean;
    /** Parts that restrict the source and are enforced. */
    readonly enforcedParts: readonly ContainmentPart[];
    /** Parts that restrict the source and are not enforced. */
    readonly notEnforcedParts: readonly ContainmentPart[];
    /** The parts of `notEnforcedParts` that the gateway checks for each call instead: it refuses tools whose annotations conflict with them. */
    readonly judgedParts: readonly ContainmentPart[];
  };
  /** Host patterns that the source may connect to, where they are known. */
  readonly hosts?: readonly string[];
  /** Names of the secrets that the source uses, never their values. */
  readonly credentials?: readonly { readonly id: string; readonly secret: string }[];
  /** The manifest that a server is adopted from, and the tools in which the two differ, once the server has listed its own. */
  readonly manifest?: {
    readonly name: string;
    readonly version: string;
    /** The package that is fetched: `npm @scope/server 1.2.3`. */
    readonly package: string;
    /** Tools that the manifest names and the server does not have. */
    readonly missingTools?: readonly string[];
    /** Tools that the server has and the manifest does not name; they are not offered. */
    readonly undeclaredTools?: readonly string[];
  };
  /** The login of the gateway at a server with OAuth. */
  readonly login?: {
    readonly state: "logged in" | "login needed";
    readonly issuer: string | undefined;
    readonly scopes: readonly string[];
    /** ISO 8601. */
    readonly accessTokenEnds: string | undefined;
  };
  readonly protocolVersion?: string;
  readonly serverInfo?: JsonObject;
  /** Process id of a shared stdio server, while it runs. */
  readonly pid?: number;
  /** Connections made after the first. */
  readonly restarts?: number;
  /** Sessions that belong to one client each; at a stdio server, each has a process of its own. Absent while there is none. */
  readonly clientSessions?: number;
}

/** Facts about a source that the operator configured, by an id of its own. */
export interface ConfiguredFacts {
  /** The list of a status that shows it. */
  readonly group: SourceGroup;
  /** The way to its tools, such as `stdio`, for status and audit. */
  readonly transport: string;
  /** Current details for its status. */
  details(): SourceDetails;
  /** Uses it again after a quarantine. @returns whether it was quarantined. @default it is never quarantined */
  release?(): boolean | Promise<boolean>;
  /** Returns the last lines of its log. @default it has none */
  log?(lineCount: number): readonly string[];
}

/** The facts about a source. */
export interface SourceFacts {
  /** Present for configured sources: they have an endpoint, a status, and their id in audit and metrics. */
  readonly configured: ConfiguredFacts | undefined;
  /** The namespace of its tools; undefined where each tool has its own. @default the id of the source */
  readonly namespace: string | undefined;
  /** Whether it has one tool, whose name on the wire is the namespace alone. */
  readonly isSingleTool: boolean;
  /** Position of its tools in lists and its precedence where names collide: lower first, then by order of addition. */
  readonly rank: number;
  /** Whether its tools are Toolcrib's own: they are not counted, and `serve.mode` decides how they are listed. */
  readonly isOwn: boolean;
  /** Whether search finds its tools. */
  readonly isSearchable: boolean;
  /** Whether composites may call its tools. */
  readonly isCallableByComposites: boolean;
  /** Whether its tools are composites: they can be saved again under their names, and they coerce arguments. */
  readonly isComposite: boolean;
  /** Whether its tools can call other tools through the gateway. @default true */
  readonly callsTools: boolean;
  readonly backendKind: BackendKind;
  /** Whether the source converts arguments of other types itself, so that they pass to it unchanged. */
  readonly coercesArguments: boolean;
  /** Milliseconds until a call is failed, where the source does not set a deadline for the tool itself. */
  readonly deadlineMs: number;
  /** The setting that changes the deadline, for hints; undefined where none does. */
  readonly deadlineSetting: string | undefined;
  /** Returns the containment tier that calls are recorded with. */
  readonly containment: () => string | undefined;
  /** The declaration of the operator about the server that its tools belong to; undefined where nothing limits their calls. */
  readonly trust: ServerTrust | undefined;
  /** The acceptance of its definitions; undefined where every definition is. */
  readonly pinning: FeaturePinning | undefined;
  /** Returns advice for the operator about a text with which one of its tools failed; undefined where it never has any. */
  readonly advise: ((text: string) => string | undefined) | undefined;
  readonly labels: { readonly [key: string]: string };
  /** Labels of the data that it returns. */
  readonly dataLabels: readonly string[];
  /** Hosts that its tools connect to; undefined where any is possible. */
  readonly egressHosts: readonly string[] | undefined;
}

/** Milliseconds until a call is failed, unless its source says otherwise. @limit client */
const defaultDeadlineMs = 300_000;

/** Deadline of Toolcrib's own tools: longer than the longest `max_execution_seconds`, which applies to their inner calls. @limit client */
const ownDeadlineMs = 3_610_000;

/** Facts about a source of a program's own functions, and the default of every fact but `namespace`. */
export const defaultFacts: SourceFacts = {
  configured: undefined,
  namespace: undefined,
  isSingleTool: false,
  rank: 1,
  isOwn: false,
  isSearchable: true,
  isCallableByComposites: true,
  callsTools: true,
  isComposite: false,
  backendKind: "local",
  coercesArguments: false,
  deadlineMs: defaultDeadlineMs,
  deadlineSetting: undefined,
  containment: () => undefined,
  trust: undefined,
  pinning: undefined,
  advise: undefined,
  labels: {},
  dataLabels: [],
  egressHosts: undefined,
};

/** Facts about a source of Toolcrib's own tools, such as `search_tools`. */
export const ownFacts: SourceFacts = {
  ...defaultFacts,
  rank: 0,
  isOwn: true,
  isSearchable: false,
  isCallableByComposites: false,
  deadlineMs: ownDeadlineMs,
};

/** Facts about the source of saved tools. Where two names collide, a saved tool gives way. */
export const compositeFacts: SourceFacts = { ...defaultFacts, rank: 2, isComposite: true };

/** Returns `items` with `item` after the last one whose rank is not higher. */
export function insertByRank<Item extends { readonly facts: Pick<SourceFacts, "rank"> }>(
  items: readonly Item[],
  item: Item,
): Item[] {
  const at = items.findLastIndex(({ facts }) => facts.rank <= item.facts.rank);
  return items.toSpliced(at + 1, 0, item);
}

/** Returns `items` with those of each rank in the order of `ids`; the others of a rank follow in their own order. */
export function arrangedByRank<Item extends { readonly facts: Pick<SourceFacts, "rank"> }>(
  items: readonly Item[],
  ids: readonly string[],
  idOf: (item: Item) => string,
): readonly Item[] {
  const places = new Map(ids.map((id, at) => [id, at]));
  const placeOf = (item: Item) => places.get(idOf(item)) ?? ids.length;
  return items.toSorted((a, b) => a.facts.rank - b.facts.rank || placeOf(a) - placeOf(b));
}

/** Milliseconds until a call of `tool` is failed. */
export function deadlineOf(
  source: { deadlineMs?(tool: Tool): number },
  facts: SourceFacts,
  tool: Tool,
): number {
  return source.deadlineMs?.(tool) ?? facts.deadlineMs;
}
