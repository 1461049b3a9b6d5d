/**
 * Ids of all files together: a tool server is not a provider target, no two
 * toolspecs of a file have one id, and no two tool servers or toolspecs have ids
 * that people take for one another.
 */

import { type Diagnostic, positionAt, type Source } from "@toolcrib/diagnostics";
import { toDiagnostic } from "@toolcrib/document";
import type { ConfigLayer, PlacedId } from "./config-layer.ts";
import { quote } from "./display-source.ts";
import { foldServerId } from "./server-id.ts";

interface Sighting extends PlacedId {
  readonly source: Source;
  readonly kind: "tool server" | "toolspec" | "target";
}

/** Findings about the ids of `layers`, taken as one configuration. */
export function lintIds(layers: readonly ConfigLayer[]): Diagnostic[] {
  const sightings = (kind: Sighting["kind"], idsOf: (layer: ConfigLayer) => readonly PlacedId[]) =>
    layers.flatMap((layer) => idsOf(layer).map((id): Sighting => ({ ...id, kind, source: layer.source })));
  const servers = sightings("tool server", ({ serverIds }) => serverIds);
  const toolspecs = sightings("toolspec", ({ toolspecIds }) => toolspecIds);
  const targets = sightings("target", ({ targetIds }) => targetIds);
  return [
    ...lintConflation(servers, targets),
    ...lintTwins(servers, toolspecs),
    ...lintCollisions([...servers, ...toolspecs]),
  ];
}

/** Toolspecs with the id of another of their file, or of any tool server. */
function lintTwins(servers: readonly Sighting[], toolspecs: readonly Sighting[]): Diagnostic[] {
  const serverById = new Map(servers.map((server) => [server.id, server]));
  const firstInFile = new Map<string, Sighting>();
  return toolspecs.flatMap((toolspec) => {
    const key = `${toolspec.source.name}\0${toolspec.id}`;
    const twin = serverById.get(toolspec.id) ?? firstInFile.get(key);
    if (!firstInFile.has(key)) firstInFile.set(key, toolspec);
    if (twin === undefined) return [];
    return toDiagnostic(
      {
        code: "CONFIG_ID_DUPLICATE",
        message: `Duplicate id ${quote(toolspec.id)}: the ${twin.kind} at ${placeOf(twin)} has it too`,
        hint: "give the toolspec an id of its own: id: NAME",
        span: toolspec.span,
      },
      toolspec.source,
    );
  });
}

function lintConflation(servers: readonly Sighting[], targets: readonly Sighting[]): Diagnostic[] {
  const targetById = new Map(targets.map((target) => [target.id, target]));
  return servers.flatMap((server) => {
    const target = targetById.get(server.id);
    if (target === undefined) return [];
    return toDiagnostic(
      {
        code: "CONFIG_CONFLATED_TARGET",
        message: `conflated tool_server and provider target: ${quote(server.id)} is also the id of the provider target at ${placeOf(target)}`,
        hint: "use distinct ids for tool servers and provider targets",
        span: server.span,
      },
      server.source,
    );
  });
}

function lintCollisions(servers: readonly Sighting[]): Diagnostic[] {
  const firstByFold = new Map<string, Sighting>();
  return servers.flatMap((server) => {
    const fold = foldServerId(server.id);
    const first = firstByFold.get(fold);
    if (first === undefined) firstByFold.set(fold, server);
    if (first === undefined || first.id === server.id) return [];
    return toDiagnostic(
      {
        code: "CONFIG_ID_COLLISION",
        message: `Ids ${quote(server.id)} and ${quote(first.id)} (${placeOf(first)}) differ only in case or separators`,
        hint: "rename one of the two, or give both the same id if the later one is to replace the earlier",
        span: server.span,
      },
      server.source,
    );
  });
}

/** `file:line:column`. */
export function placeOf({
  source,
  span,
}: {
  readonly source: Source;
  readonly span: PlacedId["span"];
}): string {
  const { lineNumber, columnNumber } = positionAt(source.text, span.start);
  return `${source.name}:${lineNumber}:${columnNumber}`;
}
