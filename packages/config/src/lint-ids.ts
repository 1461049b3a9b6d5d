/**
 * Checks the ids of all files together: a tool server is not a provider target,
 * two toolspecs of a file have different ids, and no two tool servers or
 * toolspecs have ids that people confuse.
 */

import { type Diagnostic, positionAt, type Source } from "@toolcrib/diagnostics";
import { toDiagnostic } from "@toolcrib/document";
import type { ConfigLayer, PlacedId } from "./config-layer.ts";
import { quote } from "./display-source.ts";
import { foldServerId } from "./server-id.ts";

interface PlacedEntry extends PlacedId {
  readonly source: Source;
  readonly kind: "tool server" | "toolspec" | "target";
}

/** Returns findings about the ids of `layers` as one configuration. */
export function lintIds(layers: readonly ConfigLayer[]): Diagnostic[] {
  const entriesOf = (kind: PlacedEntry["kind"], idsOf: (layer: ConfigLayer) => readonly PlacedId[]) =>
    layers.flatMap((layer) => idsOf(layer).map((id): PlacedEntry => ({ ...id, kind, source: layer.source })));
  const servers = entriesOf("tool server", ({ serverIds }) => serverIds);
  const toolspecs = entriesOf("toolspec", ({ toolspecIds }) => toolspecIds);
  const targets = entriesOf("target", ({ targetIds }) => targetIds);
  return [
    ...lintConflation(servers, targets),
    ...lintTwins(servers, toolspecs),
    ...lintCollisions([...servers, ...toolspecs]),
  ];
}

/** Reports toolspecs with the id of another toolspec of their file, or of any tool server. */
function lintTwins(servers: readonly PlacedEntry[], toolspecs: readonly PlacedEntry[]): Diagnostic[] {
  const serverById = new Map(servers.map((server) => [server.id, server]));
  const firstInFile = new Map<string, PlacedEntry>();
  return toolspecs.flatMap((toolspec) => {
    const key = `${toolspec.source.name}\0${toolspec.id}`;
    const twin = serverById.get(toolspec.id) ?? firstInFile.get(key);
    if (!firstInFile.has(key)) firstInFile.set(key, toolspec);
    if (twin === undefined) return [];
    return toDiagnostic(
      {
        code: "CONFIG_ID_DUPLICATE",
        message: `Duplicate id ${quote(toolspec.id)}: the ${twin.kind} at ${placeOf(twin)} has the same id`,
        hint: "give the toolspec a different id: id: NAME",
        span: toolspec.span,
      },
      toolspec.source,
    );
  });
}

function lintConflation(servers: readonly PlacedEntry[], targets: readonly PlacedEntry[]): Diagnostic[] {
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

function lintCollisions(servers: readonly PlacedEntry[]): Diagnostic[] {
  const firstByFold = new Map<string, PlacedEntry>();
  return servers.flatMap((server) => {
    const fold = foldServerId(server.id);
    const first = firstByFold.get(fold);
    if (first === undefined) firstByFold.set(fold, server);
    if (first === undefined || first.id === server.id) return [];
    return toDiagnostic(
      {
        code: "CONFIG_ID_COLLISION",
        message: `Ids ${quote(server.id)} and ${quote(first.id)} (${placeOf(first)}) differ only in case or separators`,
        hint: "rename one of the two, or give both the same id if the later one replaces the earlier one",
        span: server.span,
      },
      server.source,
    );
  });
}

/** Returns a place as `file:line:column`. */
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
