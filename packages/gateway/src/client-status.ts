/** The status of a gateway as one of its clients may see it: without the servers that it may not see. Pure. */

import type { GatewayStatus, ToolSummary } from "./gateway.ts";

/**
 * Returns `status` for a client.
 *
 * @param status its `waiting` has only servers that the client may see
 * @param tools those that it may use
 * @param isShown whether it may see a server
 */
export function clientStatus(
  status: Omit<GatewayStatus, "idleRules" | "anchors">,
  tools: readonly ToolSummary[],
  isShown: (serverId: string) => boolean,
): GatewayStatus {
  const ownTools = tools.filter(({ isOwn }) => isOwn).length;
  return {
    ...status,
    servers: status.servers.filter(({ id }) => isShown(id)),
    toolspecs: status.toolspecs.filter(({ id }) => isShown(id)),
    packages: status.packages.filter(({ id }) => isShown(id)),
    tools: tools.length - ownTools,
    ownTools,
    quarantined: status.quarantined.filter(({ id }) => isShown(id.slice(0, id.indexOf(":")))),
    // Whose calls used a budget is for the operator.
    limits: status.limits.map((limit) => ({ ...limit, top: [] })),
    pauses: status.pauses.filter(({ kind, name }) => kind === "all" || (kind === "server" && isShown(name))),
    ...(status.telemetry === undefined ? {} : { telemetry: countsOnly(status.telemetry) }),
    idleRules: [],
    anchors: [],
  };
}

type TelemetryStatus = NonNullable<GatewayStatus["telemetry"]>;

/** Returns a status for clients: without the address of the collector and the reasons of failures. */
function countsOnly(status: TelemetryStatus): TelemetryStatus {
  return { endpoint: "", signals: status.signals.map(({ reason: _reason, ...counts }) => counts) };
}
