/**
 * Sources that are configured and switched off: they offer nothing and start nothing, and stand in the roster so that
 * status shows them and a call of one of their tools learns the reason.
 */

import type { ToolSource } from "@toolcrib/tool";
import type { SourceFacts, SourceGroup } from "./source-facts.ts";

interface DisabledEntry {
  readonly id: string;
  readonly isOff?: boolean;
  readonly labels: { readonly [key: string]: string };
}

/** The entries of a configuration that are switched off. */
export interface DisabledEntries {
  readonly toolServers: readonly (DisabledEntry & { readonly transport: { readonly kind: string } })[];
  readonly toolspecs: readonly DisabledEntry[];
  readonly packages: readonly Omit<DisabledEntry, "labels">[];
}

/** A source that is switched off, with its facts. */
export interface DisabledSource {
  readonly source: ToolSource;
  readonly facts: Partial<SourceFacts>;
}

/** Returns a source for each entry. @param now milliseconds since the epoch */
export function disabledSources(
  { toolServers, toolspecs, packages }: DisabledEntries,
  now: number,
): readonly DisabledSource[] {
  const of = (group: SourceGroup, entry: DisabledEntry, transport: string): DisabledSource => ({
    source: toSource(entry, group, now),
    facts: {
      configured: { group, transport, details: () => ({}) },
      labels: entry.labels,
    },
  });
  return [
    ...toolServers.map((server) => of("servers", server, server.transport.kind)),
    ...toolspecs.map((toolspec) => of("toolspecs", toolspec, "toolspec")),
    ...packages.map((one) => of("packages", { ...one, labels: {} }, "package")),
  ];
}

const origins = { servers: "server", toolspecs: "toolspec", packages: "package" } as const;

function toSource({ id, isOff = false }: DisabledEntry, group: SourceGroup, since: number): ToolSource {
  const reason = isOff ? "its entry says enabled: false" : "switched off with toolcrib disable";
  return {
    id,
    origin: origins[group],
    async start() {},
    tools: () => [],
    onChange: () => () => {},
    async call() {
      throw new TypeError(`The source "${id}" is disabled and has no tools`);
    },
    health: () => ({ state: "disabled", reason, since }),
    async [Symbol.asyncDispose]() {},
  };
}
