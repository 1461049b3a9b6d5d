/** `toolcrib registry list`, `search` and `verify`: read registries and change none. */

import { type IndexEntry, type PackageRegistries, showPlace, verifyRegistry } from "@toolcrib/mcpkg-registry";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { firstSentence } from "../tools/list-tools.ts";
import { noteRegistries, openPackageRegistries, type RegistryFlags } from "./open-package-registries.ts";

/** Runs `registry list`: the configured registries, or the packages of one. */
export async function listRegistries(
  context: CliContext,
  registry: string | undefined,
  flags: RegistryFlags,
): Promise<ExitCode> {
  const { output } = context;
  const wanted = registry === undefined ? flags : { ...flags, registry: [registry] };
  await using opened = await openPackageRegistries(context, wanted);
  const { registries } = opened;
  noteRegistries(context, registries);
  output.json({ registries: registries.opened.map(toJson), failed: failuresOf(registries) });
  if (registry === undefined) printRegistries(context, registries);
  else for (const one of registries.opened) printPackages(context, one.entries);
  return exitCodeOfRegistries(registries);
}

/** Options of `registry search`. */
export interface SearchFlags extends RegistryFlags {
  readonly language?: string;
  readonly platform?: string;
  readonly capability?: readonly string[];
  readonly license?: string;
  readonly limit: number;
}

/** Runs `registry search`. */
export async function searchRegistries(
  context: CliContext,
  words: string,
  flags: SearchFlags,
): Promise<ExitCode> {
  const { output } = context;
  const { language, platform, capability: capabilities, license, limit } = flags;
  await using opened = await openPackageRegistries(context, flags);
  const { registries } = opened;
  noteRegistries(context, registries);
  const found = registries.search(words, { language, platform, capabilities, license }, limit);
  output.json(
    found.map(({ entry, registry, score }) => ({ ...entry, registry: registry.source.name, score })),
  );
  if (found.length === 0 && registries.opened.length > 0) {
    output.print("No package matches; try other words, or fewer filters.");
  } else if (found.length > 0) {
    output.table(
      [
        { title: "PACKAGE", paint: (cell) => output.style("cyan", cell) },
        { title: "VERSION" },
        { title: "REGISTRY" },
        { title: "RUNS ON", canShrink: true },
        { title: "DESCRIPTION", canShrink: true },
      ],
      found.map(({ entry, registry }) => [
        entry.toolId,
        entry.version,
        safeLine(registry.source.name),
        safeLine(runsOn(entry)),
        firstSentence(entry.description),
      ]),
    );
  }
  return exitCodeOfRegistries(registries);
}

/** Runs `registry verify`. */
export async function verifyRegistries(
  context: CliContext,
  registry: string,
  flags: RegistryFlags,
): Promise<ExitCode> {
  const { output } = context;
  await using opened = await openPackageRegistries(context, { ...flags, registry: [registry] });
  const { registries } = opened;
  noteRegistries(context, registries);
  const [one] = registries.opened;
  if (one === undefined) {
    output.json({ ok: false, failed: failuresOf(registries) });
    return exitCodeOfRegistries(registries);
  }
  const { problems: found, archives } = await verifyRegistry(registries, one);
  const problems =
    one.stale === undefined ? found : [{ what: "index.json", reason: one.stale.reason }, ...found];
  const ok = problems.length === 0;
  output.json({ ok, ...toJson(one), archives, problems });
  for (const { what, reason } of problems)
    output.print(`${output.style("red", "✗")} ${safeLine(what)}: ${safeLine(reason)}`);
  const { statement } = one;
  output.print(
    `${ok ? output.style("green", "✓") : output.style("red", "✗")} index number ${statement.sequence}, signed by ${statement.keyId}, expires on ${statement.expiresAt}`,
    `${counted(archives, "archive")} checked, ${counted(problems.length, "problem")}`,
  );
  return ok ? exitCodes.done : exitCodes.failed;
}

type Opened = PackageRegistries["opened"][number];

function printRegistries({ output }: CliContext, { opened }: PackageRegistries): void {
  output.table(
    [
      { title: "REGISTRY", paint: (cell) => output.style("cyan", cell) },
      { title: "VERSIONS" },
      { title: "INDEX" },
      { title: "EXPIRES" },
      { title: "KEY" },
      { title: "PLACE", canShrink: true },
    ],
    opened.map(({ source, statement, entries }) => [
      safeLine(source.name),
      String(entries.length),
      String(statement.sequence),
      statement.expiresAt.slice(0, 10),
      statement.keyId,
      safeLine(showPlace(source.place)),
    ]),
  );
}

function printPackages({ output }: CliContext, entries: readonly IndexEntry[]): void {
  if (entries.length === 0) output.print("The registry has no packages.");
  else {
    output.table(
      [
        { title: "PACKAGE", paint: (cell) => output.style("cyan", cell) },
        { title: "VERSION" },
        { title: "STATE" },
        { title: "LICENSE" },
        { title: "DESCRIPTION", canShrink: true },
      ],
      entries.map(({ toolId, version, yanked, publisherKey, license = "", description }) => [
        toolId,
        version,
        yanked === undefined ? (publisherKey === undefined ? "not signed" : "signed") : "withdrawn",
        safeLine(license),
        firstSentence(description),
      ]),
    );
  }
}

function runsOn({ implementations, kinds }: IndexEntry): string {
  const languages = new Set(
    implementations.map(({ language }) => language ?? "").filter((one) => one !== ""),
  );
  const platforms = implementations.some((one) => one.platforms === undefined)
    ? []
    : [...new Set(implementations.flatMap((one) => one.platforms ?? []))];
  return [[...languages].join(", ") || kinds.join(", "), platforms.join(" ")]
    .filter((one) => one !== "")
    .join(": ");
}

function toJson({ source, statement, entries, isFirstUse, stale }: Opened) {
  const { sequence, issuedAt, expiresAt, keyId, name } = statement;
  return {
    name: source.name,
    place: showPlace(source.place),
    statedName: name,
    sequence,
    issuedAt,
    expiresAt,
    keyId,
    isFirstUse,
    stale: stale && { reason: stale.reason, checkedAt: new Date(stale.checkedAtMs).toISOString() },
    packages: entries,
  };
}

function failuresOf({ failed }: PackageRegistries) {
  return failed.map(({ source, error }) => ({
    name: source.name,
    code: error.code,
    message: error.message,
    hint: error.hint,
  }));
}

/** Some registries can fail and others not: the first failure decides. */
function exitCodeOfRegistries({ failed }: PackageRegistries): ExitCode {
  const [first] = failed;
  return first === undefined ? exitCodes.done : exitCodeOf(first.error.code);
}
