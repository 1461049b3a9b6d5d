/**
 * Checks `policy.floor`, the minimum containment of every tool server. No server
 * of any file may declare less, and no later file may lower the floor of an
 * earlier one. Both errors name both places.
 */

import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";
import { nodeAt, toDiagnostic } from "@toolcrib/document";
import type { ConfigLayer, ServerDeclaration } from "./config-layer.ts";
import type { ContainmentLevel, PolicyFloor } from "./config-types.ts";
import { isBelow } from "./containment.ts";
import { quote } from "./display-source.ts";
import { placeOf } from "./lint-ids.ts";

const floorFields = ["network_egress", "filesystem_write", "max_execution_seconds"] as const;
type FloorField = (typeof floorFields)[number];

interface Requirement {
  readonly value: ContainmentLevel | number;
  readonly source: Source;
  readonly span: Span;
}

/** Returns the floor of all `layers`: the strictest requirement for each field. */
export function mergedFloor(layers: readonly ConfigLayer[]): PolicyFloor {
  const value = (field: FloorField) => strictestRequirement(layers, field)?.value;
  return {
    networkEgress: value("network_egress") as ContainmentLevel | undefined,
    filesystemWrite: value("filesystem_write") as ContainmentLevel | undefined,
    maxExecutionSeconds: value("max_execution_seconds") as number | undefined,
  };
}

/** Returns findings about lowered floors, and about `servers` that declare less than the floor of `layers`. */
export function lintFloor(
  layers: readonly ConfigLayer[],
  servers: readonly ServerDeclaration[],
): Diagnostic[] {
  return floorFields.flatMap((field) => {
    const strictest = strictestRequirement(layers, field);
    if (strictest === undefined) return [];
    return [
      ...lintLowered(layers, field),
      ...servers.flatMap((server) => lintServer(server, field, strictest)),
      ...layers.flatMap((layer) => lintPackages(layer, field, strictest)),
    ];
  });
}

function requirementsOf(layers: readonly ConfigLayer[], field: FloorField): Requirement[] {
  return layers.flatMap(({ sections, source, tree }) => {
    const value = sections.policy?.floor?.[field];
    const span = nodeAt(tree, ["policy", "floor", field])?.span;
    return value === undefined || span === undefined ? [] : [{ value, source, span }];
  });
}

function strictestRequirement(layers: readonly ConfigLayer[], field: FloorField): Requirement | undefined {
  return requirementsOf(layers, field).reduce<Requirement | undefined>(
    (strictest, requirement) =>
      strictest === undefined || isLess(strictest.value, requirement.value) ? requirement : strictest,
    undefined,
  );
}

/** Whether `value` contains less than `required` does. */
function isLess(value: ContainmentLevel | number, required: ContainmentLevel | number): boolean {
  if (typeof value === "number" || typeof required === "number") return value > required;
  return isBelow(value, required);
}

function lintLowered(layers: readonly ConfigLayer[], field: FloorField): Diagnostic[] {
  const findings: Diagnostic[] = [];
  let strictest: Requirement | undefined;
  for (const requirement of requirementsOf(layers, field)) {
    if (strictest === undefined || !isLess(requirement.value, strictest.value)) {
      strictest = requirement;
      continue;
    }
    findings.push(
      toDiagnostic(
        {
          code: "CONFIG_POLICY_FLOOR",
          message: `Cannot lower the policy floor: ${field}: ${requirement.value} (${placeOf(requirement)}) is less than ${strictest.value}, which ${placeOf(strictest)} requires`,
          hint: `write ${field}: ${strictest.value}, or change the floor where it is set first`,
          span: requirement.span,
          path: `policy.floor.${field}`,
        },
        requirement.source,
      ),
    );
  }
  return findings;
}

function lintPackages(
  { sections, source, tree }: ConfigLayer,
  field: FloorField,
  requirement: Requirement,
): Diagnostic[] {
  return Object.entries(sections.packages ?? {}).flatMap(([toolId, { containment }]) => {
    const declared = containment?.[field];
    const span = nodeAt(tree, ["packages", toolId, "containment", field])?.span;
    if (declared === undefined || span === undefined || !isLess(declared, requirement.value)) return [];
    const place = { what: `Package ${quote(toolId)}`, source, span };
    return [belowFloor(place, field, declared, requirement)];
  });
}

function lintServer(server: ServerDeclaration, field: FloorField, requirement: Requirement): Diagnostic[] {
  const declared = {
    network_egress: server.declared.networkEgress,
    filesystem_write: server.declared.filesystemWrite,
    max_execution_seconds: server.declared.maxExecutionSeconds,
  }[field];
  if (declared === undefined || !isLess(declared, requirement.value)) return [];
  const span = nodeAt(server.node, ["containment", field])?.span ?? server.span;
  const place = { what: `Tool server ${quote(server.id)}`, source: server.source, span };
  return [belowFloor(place, field, declared, requirement)];
}

function belowFloor(
  { what, source, span }: { readonly what: string; readonly source: Source; readonly span: Span },
  field: FloorField,
  declared: ContainmentLevel | number,
  requirement: Requirement,
): Diagnostic {
  return toDiagnostic(
    {
      code: "CONFIG_POLICY_FLOOR",
      message: `${what} is below the policy floor: ${field}: ${declared} (${placeOf({ source, span })}) is less than ${requirement.value}, which ${placeOf(requirement)} requires`,
      hint: `write ${field}: ${requirement.value}, or change the floor where it is set`,
      span,
    },
    source,
  );
}
