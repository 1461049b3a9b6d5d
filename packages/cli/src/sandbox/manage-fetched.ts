/** `toolcrib fetched list|verify|remove`: the packages that package runners launch, in this home. */

import { didYouMean, messageOf } from "@toolcrib/diagnostics";
import type { StoredPackage } from "@toolcrib/runners";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { fetchedStore } from "./fetched-store.ts";

/** Runs `fetched list`. */
export async function listFetched(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  const packages = await fetchedStore(context).list();
  output.json(packages.map(({ key, receipt }) => ({ name: key, ...receipt })));
  if (packages.length === 0) {
    output.print("No fetched packages.");
    return exitCodes.done;
  }
  output.table(
    [
      { title: "NAME", paint: (cell) => output.style("cyan", cell) },
      { title: "PACKAGES" },
      { title: "DEPENDENCIES" },
      { title: "MB" },
      { title: "FETCHED" },
    ],
    packages.map(({ key, shown, receipt: { locked, bytes, fetchedAt } }) => [
      safeLine(key),
      safeLine(shown),
      String(locked.length),
      (bytes / 1e6).toFixed(1),
      new Date(fetchedAt).toISOString().slice(0, 10),
    ]),
  );
  return exitCodes.done;
}

/** Runs `fetched verify`. */
export async function verifyFetched(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  const store = fetchedStore(context);
  const results: { readonly name: string; readonly problem: string | null }[] = [];
  for (const one of await store.list()) {
    const problem = await store.verify(one).then(() => null, messageOf);
    results.push({ name: one.key, problem });
    output.print(`${problem === null ? "unchanged" : "CHANGED  "}  ${safeLine(problem ?? one.shown)}`);
  }
  output.json(results);
  if (results.length === 0) output.print("No fetched packages.");
  return results.every(({ problem }) => problem === null) ? exitCodes.done : exitCodes.failed;
}

/** Runs `fetched remove`. */
export async function removeFetched(context: CliContext, name: string): Promise<ExitCode> {
  const store = fetchedStore(context);
  const packages = await store.list();
  const found = packages.find(({ key }) => key === name);
  if (found === undefined) throw notFound(name, packages);
  await store.remove(found);
  context.output.json({ removed: name });
  context.output.prose(
    `Removed ${safeLine(found.shown)}. A server that uses it fetches it again at its next start.`,
  );
  return exitCodes.done;
}

function notFound(name: string, packages: readonly StoredPackage[]): CliError {
  const names = packages.map(({ key }) => key);
  return new CliError("CLI_FETCHED_NOT_FOUND", `There is no fetched package "${name}"`, {
    hint:
      packages.length === 0
        ? "no package was fetched yet"
        : (didYouMean(name, names) ?? `the packages are ${names.join(", ")}`),
  });
}
