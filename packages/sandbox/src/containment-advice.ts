/**
 * Advice for the operator where a contained server fails: what its sandbox refused,
 * and the line of the configuration that allows it. The text of the server decides
 * which advice is shown, so the advice never names a place that no sandbox shows, and
 * nothing acts on it.
 */

import { basename, dirname, extname } from "node:path";
import { fileVariableOf } from "./file-variables.ts";
import { isWithin } from "./paths.ts";
import { findRefusedNeed } from "./refused-need.ts";
import type { ContainedServer } from "./server-sandboxes.ts";

/** One more access of a server. */
interface Access {
  readonly host?: string;
  readonly writePath?: string;
  readonly readPath?: string;
}

/** Facts on which the advice about one server depends. */
export interface AdviceFacts {
  readonly server: Pick<ContainedServer, "id" | "containment">;
  /** Arguments of its command. */
  readonly args: readonly string[];
  /** Returns the line of its configuration that gives it one more access. */
  readonly lineFor: (addition: Access) => string;
  /** Whether its process runs in a sandbox. */
  readonly isContained: () => boolean;
  /** Folders and files that its configuration names, absolute: its sandbox shows them. */
  readonly namedPaths: readonly string[];
  /** Folders and files that no sandbox shows. */
  readonly hiddenPaths: readonly string[];
  readonly userHome: string;
}

/** An address of a host in a scoped network. */
const standInAddress = /\b198\.1[89]\.\d{1,3}\.\d{1,3}\b/;

/** The end of the name of a file that is written first and then renamed to the name before it. */
const temporarySuffix = /(?:\.[\da-f-]{4,64})?\.te?mp$/i;

/** Returns advice about a text with which a server failed; undefined where its containment has nothing to do with it. */
export function adviceOn(text: string, facts: AdviceFacts): string | undefined {
  const { server } = facts;
  if (!facts.isContained()) return undefined;
  const { networkEgress, filesystemWrite, egressAllow } = server.containment.effective;
  if (networkEgress === "scoped" && standInAddress.test(text)) {
    return `The server "${server.id}" is contained: each host of egress_allow has an address of 198.18.0.0/15 in its network, which stands for the host, and the gateway checks the real addresses. Where the server refuses such addresses, the operator adds the option that accepts them to its args, such as --allow-private-ips`;
  }
  const need = findRefusedNeed(text);
  if (need?.kind === "network") {
    if (networkEgress === "allow" || (need.host !== undefined && egressAllow.includes(need.host)))
      return undefined;
    const isName =
      need.host !== undefined && /^[\w-]+(\.[\w-]+)+$/.test(need.host) && !/^[\d.]+$/.test(need.host);
    const host = isName ? need.host : "HOST";
    return written(
      facts,
      `reaches ${networkEgress === "deny" ? "no host" : "only the hosts of egress_allow"} (network_egress: ${networkEgress})`,
      { host },
    );
  }
  if (need?.kind === "write") {
    if (filesystemWrite === "allow") return undefined;
    const folder = folderFor(facts.args, need);
    const what = `writes ${filesystemWrite === "deny" ? "no file" : "only below write_paths"} (filesystem_write: ${filesystemWrite})`;
    if (folder !== undefined && !isAdvisable(folder, facts)) {
      return closedAdvice(facts, what, need.path);
    }
    return written(facts, what, { writePath: folder ?? "/path/to/folder" });
  }
  if (need?.kind !== "read" || !isAdvisable(need.path, facts)) return undefined;
  // What the sandbox shows and the server does not find does not exist.
  if (facts.namedPaths.some((one) => isWithin(need.path, one))) return undefined;
  return written(
    facts,
    "sees only the files that its configuration names",
    { readPath: need.path },
    "If this file exists, it can be allowed:",
  );
}

/** Advice about a file in a place that stays closed, such as the folder of its package: it needs another place, and its name. */
function closedAdvice(
  { server, args, lineFor }: AdviceFacts,
  what: string,
  path: string | undefined,
): string {
  const variable = fileVariableOf(args);
  const isAllowed = server.containment.effective.filesystemWrite === "scoped";
  const folder = "/path/to/folder";
  const place = isAllowed ? "a folder of write_paths" : folder;
  // A text of the server decides about the name, which becomes a part of a line of the configuration.
  const [name = "FILE"] = /^[\w-][\w.-]{0,63}$/.exec(basename(path ?? "").replace(temporarySuffix, "")) ?? [];
  const named =
    variable === undefined
      ? `in args or env, as its documentation says, the setting for its file or folder, with a place in ${place}`
      : isAllowed
        ? `in env of its transport, ${variable} with a file in ${place}`
        : `in its transport: env: { ${variable}: ${folder}/${name} }`;
  const lines = isAllowed ? named : `${lineFor({ writePath: folder })}, and ${named}`;
  return `The server "${server.id}" is contained and ${what}; it tried to write to a place that stays closed. To let it write in another one, the operator writes in its entry of tool_servers: ${lines}`;
}

function written(
  { server, lineFor }: AdviceFacts,
  what: string,
  addition: Access,
  lead = "To allow this,",
): string {
  return `The server "${server.id}" is contained and ${what}. ${lead} the operator writes in its entry of tool_servers: ${lineFor(addition)}`;
}

/** A place that a configuration can name: nothing hidden, no part of the system, not the whole home. */
function isAdvisable(path: string, { hiddenPaths, userHome }: AdviceFacts): boolean {
  if (hiddenPaths.some((one) => isWithin(path, one) || isWithin(one, path))) return false;
  return (
    !isWithin(userHome, path) &&
    !/^\/(?:$|home$|(?:usr|bin|sbin|lib\w*|etc|proc|sys|dev|run|boot|nix)(?:\/|$))|\.\./.test(path)
  );
}

/** The folder that a server has to write: that of an argument which has to do with the path, or of the path. */
function folderFor(
  args: readonly string[],
  { path, isFolder }: { readonly path: string | undefined; readonly isFolder: boolean },
): string | undefined {
  const named = argumentPathsOf(args);
  const argument =
    path === undefined ? named.at(-1) : named.find((one) => isWithin(one, path) || isWithin(path, one));
  if (argument !== undefined) return extname(argument) === "" ? argument : dirname(argument);
  return path === undefined || isFolder ? path : dirname(path);
}

function argumentPathsOf(args: readonly string[]): readonly string[] {
  return args.flatMap((one) => {
    const path = one.replace(/^--[\w-]+=/, "");
    return path.startsWith("/") ? [path.replace(/(?<=.)\/+$/, "")] : [];
  });
}
