/** The packages that package runners launch, in the home of this command: to look at, not to fetch. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ToolServerConfig } from "@toolcrib/config";
import { PackageStore, readPackageRun, type StoredPackage } from "@toolcrib/runners";
import type { CliContext } from "../cli-context.ts";

/** Returns the folder of the fetched packages of the home. */
export function fetchedFolder({ options }: Pick<CliContext, "options">): string {
  return join(options.home, "fetched");
}

/** Returns the fetched packages of the home. Nothing is fetched through it. */
export function fetchedStore(context: Pick<CliContext, "options">): PackageStore {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const sandbox = {
    at(): never {
      throw new Error("This command fetches nothing itself");
    },
  };
  return new PackageStore({
    folder: fetchedFolder(context),
    sandbox,
    logger: silent,
    now: Date.now,
    randomBytes,
  });
}

/** Returns the newest fetch of `packages`, as a command line names them, that no manifest records. */
export async function findFetched(
  context: Pick<CliContext, "options">,
  packages: readonly string[],
): Promise<StoredPackage | undefined> {
  const wanted = JSON.stringify(packages);
  return (await fetchedStore(context).list())
    .filter(({ receipt }) => receipt.recorded === undefined && JSON.stringify(receipt.packages) === wanted)
    .toSorted((a, b) => a.receipt.fetchedAt - b.receipt.fetchedAt)
    .at(-1);
}

/** Whether `words` of command lines name a package of `fetched`, with or without its version. */
export function namedBy({ shown }: StoredPackage, words: readonly string[]): boolean {
  const names = shown.split(", ").map((one) => one.replace(/ \S+$/, ""));
  return names.some((name) =>
    words.some((word) => word === name || word.startsWith(`${name}@`) || word.startsWith(`${name}==`)),
  );
}

/**
 * Whether a server starts a fetched package: exactly this fetch of it, where its command line says which that is; else
 * one of its name.
 */
export function isStartedBy(fetched: StoredPackage, server: ToolServerConfig): boolean {
  const run = runOf(server);
  if (run === undefined) return namedBy(fetched, packageWordsOf(server));
  const { kind, packages, command, python, recorded } = fetched.receipt;
  const facts = ({ kind, packages, command, python }: typeof run) =>
    JSON.stringify([kind, packages, command ?? null, python ?? null]);
  return recorded === undefined && facts(run) === facts({ kind, packages, command, python, args: [] });
}

/** The request of a server to its package runner; undefined where it has none, or it is not known from the configuration alone. */
function runOf({ transport, adopted }: ToolServerConfig): ReturnType<typeof readPackageRun> {
  if (adopted !== undefined || transport.kind !== "stdio") return undefined;
  const words = [transport.command, ...transport.args].map((one) =>
    one.kind === "literal" ? one.text : undefined,
  );
  const [program = "", ...args] = words.filter((word) => word !== undefined);
  if (words.length !== args.length + 1) return undefined;
  try {
    return readPackageRun(program, args);
  } catch {
    // A command line that no runner of the gateway accepts starts no package.
    return undefined;
  }
}

/** Returns the words of the command line of a server, and the name of the package that it is adopted from. */
export function packageWordsOf({ transport, adopted }: ToolServerConfig): readonly string[] {
  if (transport.kind !== "stdio") return [];
  const args = transport.args.flatMap((one) => (one.kind === "literal" ? [one.text] : []));
  const source = adopted?.files?.source as
    | { readonly package?: unknown; readonly name?: unknown }
    | undefined;
  const names = [source?.package, source?.name].filter((one) => typeof one === "string");
  return [...args, ...names];
}
