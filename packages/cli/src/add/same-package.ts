/** Says which entries of a configuration run a package already that is added once more. Pure. */

import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import { type PublishedPackage, readPackageRun } from "@toolcrib/runners";
import type { OfferFact } from "./offer.ts";

/** The registry of a package. */
type Kind = PublishedPackage["kind"];

/** Packages that are added: one registry, and their names, also with versions and extras. */
export interface AddedPackages {
  readonly kind: Kind;
  readonly names: readonly string[];
}

/**
 * Returns the fact about the other entries with one of the packages that are added; none where there is no such entry.
 *
 * @param id of the entry that is added
 * @param added undefined where it has no package
 */
export function samePackageFacts(
  { toolServers, disabled }: Pick<GatewayConfig, "toolServers" | "disabled">,
  id: string,
  added: AddedPackages | undefined,
): readonly OfferFact[] {
  if (added === undefined) return [];
  const keys = new Set(added.names.map((name) => keyOf(added.kind, name)));
  const others = [...toolServers, ...disabled.toolServers].filter(
    (one) => one.id !== id && packageKeysOf(one).some((key) => keys.has(key)),
  );
  if (others.length === 0) return [];
  const ids = others.map((one) => one.id).join(", ");
  return [
    [
      "already",
      `${ids} ${others.length === 1 ? "has" : "have"} this package; clients get the tools of each entry`,
    ],
  ];
}

/** The packages that a server is fetched from; none for a program of this machine. */
function packageKeysOf({ transport, adopted }: ToolServerConfig): readonly string[] {
  const source = adopted?.files?.source;
  if (source !== undefined) return [keyOf(source.kind, source.package)];
  if (transport.kind !== "stdio") return [];
  const [program = "", ...args] = [transport.command, ...transport.args].map((one) =>
    one.kind === "literal" ? one.text : "",
  );
  try {
    const run = readPackageRun(program, args);
    return (run?.packages ?? []).map((name) => keyOf(run?.kind as Kind, name));
  } catch {
    // A command line that no runner of the gateway accepts starts no package.
    return [];
  }
}

/** A package without its version and extras. Names of Python packages are normalized (PEP 503). */
function keyOf(kind: Kind, text: string): string {
  const name = /^(@?[^@[<>=!~\s]+)/.exec(text)?.[1] ?? text;
  return `${kind} ${kind === "python" ? name.replace(/[-_.]+/g, "-").toLowerCase() : name}`;
}
