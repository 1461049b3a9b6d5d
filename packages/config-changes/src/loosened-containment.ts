/**
 * The servers whose containment allows more in one configuration than in another. One word of an entry can open a
 * network (`trust_state: verified` has another default), and nothing of the change shows it: the gateway warns. Both
 * configurations are compared as they are in force, with the defaults and `policy.floor`. Servers that run elsewhere
 * are not contained, and not compared. Pure.
 */

import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";

/** A server whose containment allows more than before. */
export interface LoosenedServer {
  readonly server: string;
  /** Phrases for people, such as `network_egress from deny to allow`. Never empty. */
  readonly changes: readonly string[];
}

/** Returns the servers of both configurations whose containment allows more in `after`. */
export function loosenedServers(
  before: Pick<GatewayConfig, "toolServers">,
  after: Pick<GatewayConfig, "toolServers">,
): readonly LoosenedServer[] {
  const known = new Map(before.toolServers.map((server) => [server.id, server]));
  return after.toolServers.flatMap((server) => {
    const earlier = known.get(server.id);
    const changes = earlier === undefined ? [] : changesOf(earlier, server);
    return changes.length === 0 ? [] : [{ server: server.id, changes }];
  });
}

/** From the least to the most access. */
const levels = ["deny", "scoped", "allow"] as const;

type Level = (typeof levels)[number];

function changesOf(earlier: ToolServerConfig, server: ToolServerConfig): readonly string[] {
  if (earlier.transport.kind !== "stdio" || server.transport.kind !== "stdio") return [];
  const [was, is] = [earlier.containment.effective, server.containment.effective];
  const wereScoped = was.filesystemWrite === "scoped" ? was.writePaths : [];
  const losesSandbox = earlier.containment.needsSandbox && !server.containment.needsSandbox;
  return [
    ...levelChange("network_egress", was.networkEgress, is.networkEgress),
    ...(is.networkEgress === "scoped" && was.networkEgress !== "allow"
      ? [
          ...added(
            "egress_allow",
            was.networkEgress === "deny" ? [] : was.egressAllow,
            is.egressAllow,
            isHostIn,
          ),
          ...added("tls: passthrough", was.egressPassthrough, is.egressPassthrough, isHostIn),
        ]
      : []),
    ...levelChange("filesystem_write", was.filesystemWrite, is.filesystemWrite),
    ...(is.filesystemWrite === "scoped" && was.filesystemWrite !== "allow"
      ? added("write_paths", wereScoped, is.writePaths, isPathIn)
      : []),
    ...added("read_paths", [...was.readPaths, ...wereScoped], is.readPaths, isPathIn),
    ...(is.readsArguments && !was.readsArguments ? ["read_arguments from false to true"] : []),
    ...(losesSandbox ? ["no sandbox"] : []),
  ];
}

function levelChange(name: string, was: Level, is: Level): readonly string[] {
  return levels.indexOf(is) > levels.indexOf(was) ? [`${name} from ${was} to ${is}`] : [];
}

/** The entries of `after` that no entry of `before` contains. */
function added(
  name: string,
  before: readonly string[],
  after: readonly string[],
  isIn: (entry: string, other: string) => boolean,
): readonly string[] {
  const more = after.filter((entry) => !before.some((other) => isIn(entry, other)));
  return more.length === 0 ? [] : [`more ${name}: ${more.join(", ")}`];
}

/** Whether a host pattern is another one, or one of its names: `*.` stands for one label. */
function isHostIn(host: string, other: string): boolean {
  return host === other || (host.includes(".") && other === `*${host.slice(host.indexOf("."))}`);
}

/** Whether a path, as it is written, is another one or lies below it. One with `..` may lead anywhere. */
function isPathIn(path: string, other: string): boolean {
  if (path === other) return true;
  return path.startsWith(other.endsWith("/") ? other : `${other}/`) && !path.split("/").includes("..");
}
