/**
 * The properties of a server's tools that the gateway believes, and the calls that it blocks
 * because of them: trust state, mutability class and containment (Declarative Tool Servers
 * document, "Trust state", "Containment") against the annotations that the server
 * states about its tools (`ToolAnnotations` of MCP). The table of rules is data: the
 * page docs/reference/enforcement.md is generated from it.
 *
 * It judges calls of server tools only. It contains no process: the sandbox of a server
 * does that. It sees no arguments, and it never makes a call that the policy denies
 * possible.
 */

import type { ToolAnnotations } from "@toolcrib/tool";

/** The trust of the operator in a server (`trust_state`). */
export type TrustState = "unverified" | "verified" | "certified";
/** The operator's statement about the tools of a server (`mutability_class`). */
export type MutabilityClass = "read_only" | "write" | "unknown";
/** The transport of a server (`transport.kind`). */
export type ServerTransport = "stdio" | "sse" | "streamable_http";
/** A field of `containment` that can restrict a server, as the configuration spells it. */
export type ContainmentPart = "network_egress" | "filesystem_write" | "max_execution_seconds";

/** A part of a containment that calls are judged by. */
export type JudgedPart = "network_egress" | "filesystem_write";

/** The declaration of the operator about a server. */
export interface ServerTrust {
  readonly trustState: TrustState;
  readonly mutabilityClass: MutabilityClass;
  readonly transport: ServerTransport;
  /** Parts of its containment that are `deny` by declaration or by `policy.floor`; not those that are `deny` by default. */
  readonly denied: readonly JudgedPart[];
}

/** The declaration of a server about a tool. */
export type ToolClaims = Pick<
  ToolAnnotations,
  "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint"
>;

/** The properties of a tool that the gateway believes. Where nothing safe is believed, MCP's defaults apply: it writes, and it reaches other systems. */
export interface ToolBelief {
  /** It changes nothing. */
  readonly isReadOnly: boolean;
  /** It may destroy or overwrite something. */
  readonly isDestructive: boolean;
  /** A second call with the same arguments changes nothing more. */
  readonly isIdempotent: boolean;
  /** It reaches no system besides its server. */
  readonly isClosedWorld: boolean;
}

/**
 * Returns what the gateway believes about a tool.
 *
 * - The operator's declaration comes first: `read_only` makes a tool that does not contradict it read-only in every trust
 *   state, and `write` means that nothing is inferred to be safe.
 * - `unverified`: annotations never make a tool safer.
 * - `verified` and `certified`: safety is believed. A danger that is stated beside it wins (`readOnlyHint: true` with
 *   `destructiveHint: true` is not read-only).
 */
export function believe(
  { trustState, mutabilityClass }: Pick<ServerTrust, "trustState" | "mutabilityClass">,
  claims: ToolClaims,
): ToolBelief {
  const isTrusted = trustState !== "unverified" && mutabilityClass !== "write";
  const claimsReadOnly = claims.readOnlyHint === true && claims.destructiveHint !== true;
  const isReadOnly =
    mutabilityClass === "read_only"
      ? toolConditions.writes.find(claims) === undefined
      : isTrusted && claimsReadOnly;
  return {
    isReadOnly,
    isDestructive: !isReadOnly && !(isTrusted && claims.destructiveHint === false),
    isIdempotent: isReadOnly || (isTrusted && claims.idempotentHint === true),
    isClosedWorld: isTrusted && claims.openWorldHint === false,
  };
}

/**
 * Returns the annotations of a tool as clients are shown them: those that the server declares, except that nothing is
 * safer than what the gateway believes. A hint that is not believed has MCP's default, and a tool that is read-only by the
 * operator's declaration says so. The same object where nothing differs.
 */
export function believedAnnotations(
  server: ServerTrust,
  declared: ToolAnnotations | undefined,
): ToolAnnotations | undefined {
  const claims = declared ?? {};
  const { isReadOnly, isDestructive, isIdempotent, isClosedWorld } = believe(server, claims);
  const changes: { -readonly [Hint in keyof ToolAnnotations]: boolean } = {};
  if (isReadOnly) {
    if (claims.readOnlyHint !== true) changes.readOnlyHint = true;
  } else {
    if (claims.readOnlyHint === true) changes.readOnlyHint = false;
    if (claims.destructiveHint === false && isDestructive) changes.destructiveHint = true;
    if (claims.idempotentHint === true && !isIdempotent) changes.idempotentHint = false;
  }
  if (claims.openWorldHint === false && !isClosedWorld) changes.openWorldHint = true;
  return Object.keys(changes).length === 0 ? declared : ({ ...declared, ...changes } as ToolAnnotations);
}

/**
 * Whether each call of a tool needs an approval of the operator: the server is unverified, and the tool is not known to
 * be read-only.
 */
export function needsApproval(server: ServerTrust, claims: ToolClaims): boolean {
  return server.trustState === "unverified" && !believe(server, claims).isReadOnly;
}

/** The requirement of a rule for a tool. */
interface ToolCondition {
  /** In Markdown, for the page. */
  readonly text: string;
  /** The part of it that applies to a tool, for messages; undefined when it does not hold. */
  find(claims: ToolClaims, belief: ToolBelief): string | undefined;
}

/** The conditions of rules, by name. */
const toolConditions = {
  writes: {
    text: "declares `readOnlyHint: false` or `destructiveHint: true`",
    find: ({ readOnlyHint, destructiveHint }) =>
      destructiveHint === true
        ? "it declares destructiveHint: true"
        : readOnlyHint === false
          ? "it declares readOnlyHint: false"
          : undefined,
  },
  reachesOut: {
    text: "declares `openWorldHint: true`",
    find: ({ openWorldHint }) => (openWorldHint === true ? "it declares openWorldHint: true" : undefined),
  },
  mayWrite: {
    text: "is not known to be read-only",
    find: (_claims, { isReadOnly }) =>
      isReadOnly ? undefined : "it is not known to be read-only, and its annotations are not believed",
  },
  mayReachOut: {
    text: "is not known to reach only its server",
    find: (_claims, { isClosedWorld }) =>
      isClosedWorld ? undefined : "it can reach other systems: its annotations are not believed",
  },
} satisfies { readonly [name: string]: ToolCondition };

/** One row of the table: all of its conditions must hold. */
export interface TrustRule {
  /** Stable; the `rule` of audit records. */
  readonly id: string;
  /** The governance event of a call that breaks the rule. */
  readonly event: "mutability.violation" | "containment.violation";
  /** @default every trust state */
  readonly trustState?: TrustState;
  /** @default every class */
  readonly mutabilityClass?: MutabilityClass;
  /** The part that must be declared `deny`; only servers that are not processes of this machine are judged by it. */
  readonly denied?: JudgedPart;
  readonly tool: keyof typeof toolConditions;
  /** `record`: the call is made, and the event is recorded. */
  readonly effect: "block" | "record";
  /** The settings that allow the call, in Markdown; absent where it is made anyway. */
  readonly remedy?: string;
}

/** The rules, in the order in which they are judged. The first that blocks is the reason. */
export const trustRules: readonly TrustRule[] = [
  {
    id: "mutability.read_only",
    event: "mutability.violation",
    mutabilityClass: "read_only",
    tool: "writes",
    effect: "block",
    remedy: "`mutability_class: unknown` or `write`",
  },
  {
    id: "containment.network.unverified",
    event: "containment.violation",
    trustState: "unverified",
    denied: "network_egress",
    tool: "mayReachOut",
    effect: "block",
    remedy: "`containment.network_egress: allow`, or `trust_state: verified` once the server is verified",
  },
  {
    id: "containment.network.verified",
    event: "containment.violation",
    trustState: "verified",
    denied: "network_egress",
    tool: "reachesOut",
    effect: "block",
    remedy: "`containment.network_egress: allow`",
  },
  {
    id: "containment.network.certified",
    event: "containment.violation",
    trustState: "certified",
    denied: "network_egress",
    tool: "reachesOut",
    effect: "record",
  },
  {
    id: "containment.write.unverified",
    event: "containment.violation",
    trustState: "unverified",
    denied: "filesystem_write",
    tool: "mayWrite",
    effect: "block",
    remedy:
      "`mutability_class: read_only` if its tools only read, `containment.filesystem_write: allow`, or `trust_state: verified` once the server is verified",
  },
  {
    id: "containment.write.verified",
    event: "containment.violation",
    trustState: "verified",
    denied: "filesystem_write",
    tool: "writes",
    effect: "block",
    remedy: "`containment.filesystem_write: allow`",
  },
  {
    id: "containment.write.certified",
    event: "containment.violation",
    trustState: "certified",
    denied: "filesystem_write",
    tool: "writes",
    effect: "record",
  },
];

/** A rule that every call of a tool breaks. */
export interface TrustViolation {
  readonly rule: TrustRule;
  /** The property of the tool, such as `it declares openWorldHint: true`. */
  readonly reason: string;
}

/**
 * Returns the rules that every call of a tool breaks, in the order of the table. The result depends on nothing that
 * changes from call to call.
 *
 * @param rules the table. @default `trustRules`
 */
export function findViolations(
  server: ServerTrust,
  claims: ToolClaims,
  rules: readonly TrustRule[] = trustRules,
): readonly TrustViolation[] {
  const belief = believe(server, claims);
  return rules.flatMap((rule) => {
    const reason = appliesTo(rule, server) ? toolConditions[rule.tool].find(claims, belief) : undefined;
    return reason === undefined ? [] : [{ rule, reason }];
  });
}

function appliesTo({ trustState, mutabilityClass, denied }: TrustRule, server: ServerTrust): boolean {
  return (
    (trustState === undefined || trustState === server.trustState) &&
    (mutabilityClass === undefined || mutabilityClass === server.mutabilityClass) &&
    // The sandbox contains a process, whatever its tools declare.
    (denied === undefined || (server.transport !== "stdio" && server.denied.includes(denied)))
  );
}

/** The requirement of a rule for a tool, in Markdown. */
export function toolConditionText({ tool }: TrustRule): string {
  return toolConditions[tool].text;
}

/** The setting of a server that a rule protects, such as `network_egress: deny`. */
export function settingOf({ denied, mutabilityClass }: TrustRule): string {
  return denied === undefined ? `mutability_class: ${mutabilityClass}` : `${denied}: deny`;
}
