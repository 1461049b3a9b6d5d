/**
 * A command line of a package runner (`npx`, `uvx`, `go run`): looked up in its registry, and pinned to the version
 * that it has today, as every package that is added.
 */

import { type PublishedPackage, readPackageRun, type WantedPackage } from "@toolcrib/runners";
import type { CliContext } from "../cli-context.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { safeLine } from "../output/output.ts";
import { openLookUps } from "./open-look-ups.ts";

/** A command line that fetches a package. */
export interface RunnerCommand {
  /** The words, with the exact version. */
  readonly words: readonly string[];
  readonly published: PublishedPackage;
  /** The packages that it fetches. */
  readonly packages: readonly string[];
}

/** Pins the package of a command line; undefined for one of another program. */
export async function pinCommand(
  context: CliContext,
  words: readonly string[],
): Promise<RunnerCommand | undefined> {
  const [program = "", ...args] = words;
  const run = readPackageRun(program, args);
  const wanted = run === undefined ? undefined : wantedOf(run.kind, run.packages[0] ?? "");
  if (run === undefined || wanted === undefined) return undefined;
  const published = await lookUpOne(context, wanted);
  const spec = `${wanted.name}@${published.version}`;
  const at = args.findIndex((word) => wantedOf(run.kind, word)?.name === wanted.name);
  const pinned = at === -1 ? args : args.with(at, spec);
  return {
    words: [program, ...pinned],
    published,
    packages: readPackageRun(program, pinned)?.packages ?? run.packages,
  };
}

/** Looks one package up. */
export async function lookUpOne(context: CliContext, wanted: WantedPackage): Promise<PublishedPackage> {
  const { config, files } = await loadConfigOrDefaults(context);
  context.output.note(`Looking ${safeLine(wanted.name)} up in the registry…`);
  await using lookUps = openLookUps(context, config, files);
  return await lookUps.lookUp(wanted);
}

function wantedOf(kind: WantedPackage["kind"], word: string): WantedPackage | undefined {
  const pattern =
    kind === "python"
      ? /^([A-Za-z0-9][\w.-]*(?:\[[\w.,-]*\])?)(?:(?:@|==)([\w.+!-]+)|([<>~!=,].*))?$/
      : /^(@?[^@\s]+)(?:@([^@\s]+))?$/;
  const [, name, version, range] = pattern.exec(word) ?? [];
  if (name === undefined || name.startsWith("-")) return undefined;
  const asked = version ?? range;
  return { kind, name, version: asked === "latest" ? undefined : asked };
}
