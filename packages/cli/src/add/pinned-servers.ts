/**
 * The servers of a configuration file that are pinned to one version of a package or of a manifest of the catalog, and
 * the text of the file with another version. Every other byte stays. Pure.
 */

import { parseConfigLayer, type ServerDeclaration } from "@toolcrib/config";
import { hasErrors } from "@toolcrib/diagnostics";
import { type DocumentNode, fieldOf, itemsOf, type ScalarNode } from "@toolcrib/document";
import { readPackageRun, type WantedPackage } from "@toolcrib/runners";

/** A server that is pinned to one version. */
export interface PinnedServer {
  readonly id: string;
  /** The target of its pin: a package of a registry, or a manifest of the catalog. */
  readonly origin: { readonly kind: WantedPackage["kind"] | "catalog"; readonly name: string };
  readonly version: string;
  /** The packages that the command line names; none for a manifest. */
  readonly packages: readonly string[];
}

/** A server that is not, and why its version is not known. */
export interface UnpinnedServer {
  readonly id: string;
  readonly reason: string;
  /** Whether a version in its arguments would pin it. */
  readonly canBePinned: boolean;
}

/** Returns the servers of a file in two lists. Servers at a URL, and programs that no runner fetches, are in none. */
export function pinnedServers(
  name: string,
  text: string,
): { readonly pinned: readonly PinnedServer[]; readonly unpinned: readonly UnpinnedServer[] } {
  const pinned: PinnedServer[] = [];
  const unpinned: UnpinnedServer[] = [];
  for (const server of parseConfigLayer({ name, text }).servers) {
    const found = pinOf(server);
    if (found === undefined) continue;
    if ("reason" in found) unpinned.push(found);
    else pinned.push(found);
  }
  return { pinned, unpinned };
}

/** Returns what a server is pinned to, or why it is not; undefined for one that no runner and no catalog provides. */
export function pinOf({
  id,
  transport,
  adopted,
}: Pick<ServerDeclaration, "id" | "transport"> & {
  readonly adopted?: { readonly reference: string } | undefined;
}): PinnedServer | UnpinnedServer | undefined {
  if (adopted !== undefined) {
    const [, name, version] = /^([a-z0-9-]+)@([0-9.]+)$/.exec(adopted.reference) ?? [];
    if (name !== undefined && version !== undefined)
      return { id, origin: { kind: "catalog", name }, version, packages: [] };
    const isPath = /[\\/]/.test(adopted.reference);
    return isPath
      ? undefined
      : { id, reason: "its manifest is always the newest of the catalog", canBePinned: false };
  }
  if (transport.kind !== "stdio") return undefined;
  const words = [transport.command, ...transport.args].map((one) => (one.kind === "literal" ? one.text : ""));
  const [program = "", ...args] = words;
  let run: ReturnType<typeof readPackageRun>;
  try {
    run = readPackageRun(program, args);
  } catch {
    return { id, reason: "its command line cannot be read", canBePinned: false };
  }
  const [first] = run?.packages ?? [];
  if (run === undefined || first === undefined) return undefined;
  const pattern = run.kind === "python" ? /^([^=<>~!]+)==([^,]+)$/ : /^(@?[^@]+)@(v?\d[\w.+-]*)$/;
  const [, name, version] = pattern.exec(first) ?? [];
  if (name === undefined || version === undefined || /^\d+$/.test(version))
    return { id, reason: `${first} names no exact version`, canBePinned: true };
  return { id, origin: { kind: run.kind, name }, version, packages: run.packages };
}

/**
 * Returns `text` with the version of the server `id` replaced.
 *
 * @returns undefined where the version is not written in one place, so that the author has to do it
 */
export function withVersion(
  name: string,
  text: string,
  { id, origin, version }: PinnedServer,
  next: string,
): string | undefined {
  const server = parseConfigLayer({ name, text }).servers.find((one) => one.id === id);
  if (server === undefined) return undefined;
  const transport = fieldOf(server.node, "transport");
  const scalars = [
    fieldOf(transport, "manifest"),
    ...itemsOf(transport, "args"),
    ...itemsOf(server.node, "args"),
  ];
  const named = scalars.filter(
    (node): node is ScalarNode => node?.kind === "scalar" && namesVersion(node, origin.name, version),
  );
  const [node] = named;
  if (node === undefined || named.length > 1) return undefined;
  const written = text.slice(node.span.start, node.span.end);
  const at = written.lastIndexOf(version);
  if (at === -1) return undefined;
  const changed = `${text.slice(0, node.span.start)}${written.slice(0, at)}${next}${written.slice(at + version.length)}${text.slice(node.span.end)}`;
  return isPinnedTo(name, changed, id, next) ? changed : undefined;
}

function namesVersion(node: DocumentNode, name: string, version: string): boolean {
  if (node.kind !== "scalar" || typeof node.value !== "string") return false;
  const { value } = node;
  return (
    value.startsWith(name) &&
    value.endsWith(version) &&
    /^(?:@|==)$/.test(value.slice(name.length, -version.length))
  );
}

/** Whether a text is valid and pins a server to a version. */
function isPinnedTo(name: string, text: string, id: string, version: string): boolean {
  if (hasErrors(parseConfigLayer({ name, text }).diagnostics)) return false;
  return pinnedServers(name, text).pinned.some((one) => one.id === id && one.version === version);
}

/**
 * Compares two versions by their numbers, part by part. A version with letters is before the same one without, as
 * pre-releases are.
 *
 * @returns a negative number where `a` is older
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [one, other] = [left[at], right[at]];
    if (one === other) continue;
    if (one === undefined) return typeof other === "string" ? 1 : -1;
    if (other === undefined) return typeof one === "string" ? -1 : 1;
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one === "number") return 1;
    if (typeof other === "number") return -1;
    return one < other ? -1 : 1;
  }
  return 0;
}

function partsOf(version: string): readonly (string | number)[] {
  const parts =
    version
      .replace(/^v/, "")
      .replace(/\+.*$/, "")
      .match(/\d+|[a-z]+/gi) ?? [];
  return parts.slice(0, 40).map((part) => (/^\d+$/.test(part) ? Number(part) : part.toLowerCase()));
}
