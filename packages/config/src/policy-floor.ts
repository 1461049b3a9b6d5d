/**
 * `policy.floor`: the least containment of every tool server. No server may
 * declare less, whichever file it comes from, and no later file may lower the
 * floor of an earlier one. Both are errors that name both places.
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

interface Demand {
  readonly value: ContainmentLevel | number;
  readonly source: Source;
  readonly span: Span;
}

/** The floor of `layers` together: of each field the strictest demand. */
export function mergedFloor(layers: readonly ConfigLayer[]): PolicyFloor {
  const value = (field: FloorField) => strictestDemand(layers, field)?.value;
  return {
    networkEgress: value("network_egress") as ContainmentLevel | undefined,
    filesystemWrite: value("filesystem_write") as ContainmentLevel | undefined,
    maxExecutionSeconds: value("max_execution_seconds") as number | undefined,
  };
}

/** Findings about floors that are lowered and `servers` that declare less than the floor of `layers`. */
export function lintFloor(
  layers: readonly ConfigLayer[],
  servers: readonly ServerDeclaration[],
): Diagnostic[] {
  return floorFields.flatMap((field) => {
    const strictest = strictestDemand(layers, field);
    if (strictest === undefined) return [];
    return [
      ...lintLowered(layers, field),
      ...servers.flatMap((server) => lintServer(server, field, strictest)),
    ];
  });
}

function demandsOf(layers: readonly ConfigLayer[], field: FloorField): Demand[] {
  return layers.flatMap(({ sections, source, tree }) => {
    const value = sections.policy?.floor?.[field];
    const span = nodeAt(tree, ["policy", "floor", field])?.span;
    return value === undefined || span === undefined ? [] : [{ value, source, span }];
  });
}

function strictestDemand(layers: readonly ConfigLayer[], field: FloorField): Demand | undefined {
  return demandsOf(layers, field).reduce<Demand | undefined>(
    (strictest, demand) =>
      strictest === undefined || isLess(strictest.value, demand.value) ? demand : strictest,
    undefined,
  );
}

/** Whether `value` contains less than `demanded` does. */
function isLess(value: ContainmentLevel | number, demanded: ContainmentLevel | number): boolean {
  if (typeof value === "number" || typeof demanded === "number") return value > demanded;
  return isBelow(value, demanded);
}

function lintLowered(layers: readonly ConfigLayer[], field: FloorField): Diagnostic[] {
  const findings: Diagnostic[] = [];
  let strictest: Demand | undefined;
  for (const demand of demandsOf(layers, field)) {
    if (strictest === undefined || !isLess(demand.value, strictest.value)) {
      strictest = demand;
      continue;
    }
    findings.push(
      toDiagnostic(
        {
          code: "CONFIG_POLICY_FLOOR",
          message: `Cannot lower the policy floor: ${field}: ${demand.value} (${placeOf(demand)}) is less than ${strictest.value}, which ${placeOf(strictest)} demands`,
          hint: `write ${field}: ${strictest.value}, or change the floor where it is set first`,
          span: demand.span,
          path: `policy.floor.${field}`,
        },
        demand.source,
      ),
    );
  }
  return findings;
}

function lintServer(server: ServerDeclaration, field: FloorField, demand: Demand): Diagnostic[] {
  const declared = {
    network_egress: server.declared.networkEgress,
    filesystem_write: server.declared.filesystemWrite,
    max_execution_seconds: server.declared.maxExecutionSeconds,
  }[field];
  if (declared === undefined || !isLess(declared, demand.value)) return [];
  const span = nodeAt(server.node, ["containment", field])?.span ?? server.span;
  return [
    toDiagnostic(
      {
        code: "CONFIG_POLICY_FLOOR",
        message: `Tool server ${quote(server.id)} is below the policy floor: ${field}: ${declared} (${placeOf({ source: server.source, span })}) is less than ${demand.value}, which ${placeOf(demand)} demands`,
        hint: `write ${field}: ${demand.value}, or change the floor where it is set`,
        span,
      },
      server.source,
    ),
  ];
}
