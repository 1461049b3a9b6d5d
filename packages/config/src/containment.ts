/**
 * Computes the effective containment of a server: the declared value, or else
 * the default of its trust state, and never less than the policy floor requires.
 * Pure.
 */

import type { ContainmentPart, JudgedPart, TrustState } from "@toolcrib/policy";
import type { ContainmentConfig, ContainmentLevel, PolicyFloor, ToolServerConfig } from "./config-types.ts";

type Defaults = Pick<ContainmentConfig, "networkEgress" | "filesystemWrite" | "maxExecutionSeconds">;

/** Defaults of omitted fields of `containment`, by trust state. */
export const containmentDefaults: { readonly [T in TrustState]: Defaults } = {
  unverified: { networkEgress: "deny", filesystemWrite: "deny", maxExecutionSeconds: 30 },
  verified: { networkEgress: "allow", filesystemWrite: "deny", maxExecutionSeconds: 60 },
  certified: { networkEgress: "allow", filesystemWrite: "allow", maxExecutionSeconds: 300 },
};

/** From the least to the most access. */
const strictness: { readonly [L in ContainmentLevel]: number } = { deny: 0, scoped: 1, allow: 2 };

/** Whether `level` allows more than `demanded` does. */
export function isBelow(level: ContainmentLevel, demanded: ContainmentLevel): boolean {
  return strictness[level] > strictness[demanded];
}

/**
 * Returns the effective containment. A default below the floor is raised to it;
 * with a floor of `scoped` it becomes `deny`, because a default has no scope.
 */
export function effectiveContainment(
  declared: Partial<ContainmentConfig>,
  trustState: TrustState,
  floor: PolicyFloor,
): ContainmentConfig {
  const defaults = containmentDefaults[trustState];
  return {
    networkEgress: declared.networkEgress ?? raised(defaults.networkEgress, floor.networkEgress),
    filesystemWrite: declared.filesystemWrite ?? raised(defaults.filesystemWrite, floor.filesystemWrite),
    maxExecutionSeconds:
      declared.maxExecutionSeconds ??
      Math.min(defaults.maxExecutionSeconds, floor.maxExecutionSeconds ?? defaults.maxExecutionSeconds),
    egressAllow: declared.egressAllow ?? [],
    egressPassthrough: declared.egressPassthrough ?? [],
    writePaths: declared.writePaths ?? [],
    readPaths: declared.readPaths ?? [],
    readsArguments: declared.readsArguments ?? true,
    hasState: declared.hasState ?? false,
  };
}

function raised(level: ContainmentLevel, demanded: ContainmentLevel | undefined): ContainmentLevel {
  return demanded !== undefined && isBelow(level, demanded) ? "deny" : level;
}

/** The properties of a containment that can restrict a server. */
const members = {
  network_egress: "networkEgress",
  filesystem_write: "filesystemWrite",
  max_execution_seconds: "maxExecutionSeconds",
} as const satisfies { readonly [Part in ContainmentPart]: keyof ContainmentConfig };

/**
 * Whether a server runs in a sandbox: a process whose containment restricts it, and every process of an
 * unverified server.
 */
export function needsSandbox(
  { transport, trustState }: Pick<ToolServerConfig, "transport" | "trustState">,
  { networkEgress, filesystemWrite }: Pick<ContainmentConfig, "networkEgress" | "filesystemWrite">,
): boolean {
  if (transport.kind !== "stdio") return false;
  return trustState === "unverified" || networkEgress !== "allow" || filesystemWrite !== "allow";
}

/**
 * Returns the parts of `effective` that restrict a server, by who enforces them: the gateway, with the deadline of
 * each call; a sandbox around the process; nobody, as the server runs elsewhere.
 */
export function containmentParts(
  { transport }: Pick<ToolServerConfig, "transport">,
  effective: ContainmentConfig,
): Pick<ToolServerConfig["containment"], "enforced" | "bySandbox" | "notEnforced"> {
  const parts = Object.keys(members) as ContainmentPart[];
  const restricting = parts.filter((part) => effective[members[part]] !== "allow");
  const others = restricting.filter((part) => part !== "max_execution_seconds");
  const isProcess = transport.kind === "stdio";
  return {
    enforced: ["max_execution_seconds"],
    bySandbox: isProcess ? others : [],
    notEnforced: isProcess ? [] : others,
  };
}

/**
 * Returns the parts of a server that runs elsewhere by which its calls are judged: those that are `deny` because it
 * is declared, or because `policy.floor` requires it. A default is not judged, as most servers elsewhere would be of
 * no use with it.
 */
export function judgedParts(
  { transport }: Pick<ToolServerConfig, "transport">,
  declared: Partial<ContainmentConfig>,
  effective: ContainmentConfig,
  floor: PolicyFloor,
): readonly JudgedPart[] {
  if (transport.kind === "stdio") return [];
  const parts: readonly JudgedPart[] = ["network_egress", "filesystem_write"];
  return parts.filter((part) => {
    const member = members[part] as "networkEgress" | "filesystemWrite";
    const isDemanded = declared[member] !== undefined || (floor[member] ?? "allow") !== "allow";
    return isDemanded && effective[member] === "deny";
  });
}

/**
 * Returns the warning about the parts of a server's containment that are not
 * enforced, declared or not; an empty list when every restriction is enforced.
 */
export function notEnforcedOf(
  { id, transport, trustState }: Pick<ToolServerConfig, "id" | "transport" | "trustState">,
  declared: Partial<ContainmentConfig>,
  effective: ContainmentConfig,
  judged: readonly JudgedPart[],
): readonly string[] {
  const { notEnforced } = containmentParts({ transport }, effective);
  if (notEnforced.length === 0) return [];
  const restrictions = notEnforced.map((part) => {
    const isDefault = declared[members[part]] === undefined;
    const origin = judged.some((one) => one === part)
      ? ` (calls are ${trustState === "certified" ? "recorded" : "blocked"} by what tools declare)`
      : isDefault
        ? ` (the default for trust_state: ${trustState})`
        : "";
    return `${part}: ${effective[members[part]]}${origin}`;
  });
  return [
    `Containment of tool server "${id}" is NOT enforced: ${restrictions.join(", ")}; the server runs elsewhere, where nothing contains it`,
  ];
}
