/**
 * Which containment holds for a server: what is declared, else what its trust
 * state gives, and never less than the policy floor demands. Pure.
 */

import type { ContainmentConfig, ContainmentLevel, PolicyFloor, TrustState } from "./config-types.ts";

type Defaults = Pick<ContainmentConfig, "networkEgress" | "filesystemWrite" | "maxExecutionSeconds">;

/** What an omitted field of `containment` is, by trust state. */
export const containmentDefaults: { readonly [T in TrustState]: Defaults } = {
  unverified: { networkEgress: "deny", filesystemWrite: "deny", maxExecutionSeconds: 30 },
  verified: { networkEgress: "allow", filesystemWrite: "deny", maxExecutionSeconds: 60 },
  certified: { networkEgress: "allow", filesystemWrite: "allow", maxExecutionSeconds: 300 },
};

/** From the least to the most that a server may do. */
const strictness: { readonly [L in ContainmentLevel]: number } = { deny: 0, scoped: 1, allow: 2 };

/** Whether `level` allows more than `demanded` does. */
export function isBelow(level: ContainmentLevel, demanded: ContainmentLevel): boolean {
  return strictness[level] > strictness[demanded];
}

/**
 * The containment that holds. A default below the floor is raised to it; a
 * floor of `scoped` makes `deny` of a default, which has no scope.
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
    writePaths: declared.writePaths ?? [],
  };
}

function raised(level: ContainmentLevel, demanded: ContainmentLevel | undefined): ContainmentLevel {
  return demanded !== undefined && isBelow(level, demanded) ? "deny" : level;
}

/** One sentence for each containment that is declared and that this version cannot enforce. */
export function notEnforcedOf(
  id: string,
  isProcess: boolean,
  declared: Partial<ContainmentConfig>,
): readonly string[] {
  const why = isProcess
    ? "this version starts servers without a sandbox"
    : "the server runs elsewhere, and this version does not judge its calls by it";
  const asked = [
    ["network_egress", declared.networkEgress],
    ["filesystem_write", declared.filesystemWrite],
  ] as const;
  return asked.flatMap(([field, level]) =>
    level === undefined || level === "allow"
      ? []
      : [`Containment of tool server "${id}" is NOT enforced: ${field}: ${level} is declared, but ${why}`],
  );
}
