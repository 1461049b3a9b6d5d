/** The line of a configuration that gives a server one more access. Pure. */

import type { ToolServerConfig } from "./config-types.ts";
import { containmentDefaults } from "./containment.ts";

/** One more access of a server. */
export interface ContainmentAddition {
  readonly host?: string;
  readonly writePath?: string;
  readonly readPath?: string;
}

/**
 * Returns the line `containment: { … }` of a server, with everything that it has and one addition. It stands beside
 * `trust_state`, and replaces the containment that is there.
 */
export function containmentLine(
  { containment, trustState }: Pick<ToolServerConfig, "containment" | "trustState">,
  { host, writePath, readPath }: ContainmentAddition,
): string {
  const { effective } = containment;
  const defaults = containmentDefaults[trustState];
  const network = host === undefined ? effective.networkEgress : "scoped";
  const writes = writePath === undefined ? effective.filesystemWrite : "scoped";
  const hosts = listOf(effective.egressAllow, host);
  const written = listOf(effective.writePaths, writePath);
  const read = listOf(effective.readPaths, readPath);
  const isUnread = (entry: string): boolean => effective.egressPassthrough.includes(entry);
  const allow = hosts.map((entry) =>
    isUnread(entry) ? `{ host: ${quoted(entry)}, tls: passthrough }` : quoted(entry),
  );
  const members = [
    ...(network === defaults.networkEgress ? [] : [`network_egress: ${network}`]),
    ...(network === "scoped" ? [`egress_allow: [${allow.join(", ")}]`] : []),
    ...(writes === defaults.filesystemWrite ? [] : [`filesystem_write: ${writes}`]),
    ...(writes === "scoped" ? [`write_paths: [${written.map(quoted).join(", ")}]`] : []),
    ...(read.length === 0 ? [] : [`read_paths: [${read.map(quoted).join(", ")}]`]),
    ...(effective.readsArguments ? [] : ["read_arguments: false"]),
    ...(effective.hasState ? ["state: true"] : []),
    ...(effective.maxExecutionSeconds === defaults.maxExecutionSeconds
      ? []
      : [`max_execution_seconds: ${effective.maxExecutionSeconds}`]),
  ];
  return `containment: { ${members.join(", ")} }`;
}

function listOf(known: readonly string[], added: string | undefined): readonly string[] {
  return added === undefined || known.includes(added) ? known : [...known, added];
}

/** A text in YAML: plain where it can be nothing else. */
function quoted(text: string): string {
  return /^[A-Za-z][\w.-]*\.[\w.-]*[A-Za-z]$/.test(text) ? text : JSON.stringify(text);
}
