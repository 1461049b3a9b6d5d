/**
 * `toolcrib saved publish`: turns a saved tool into a signed package with its recorded tests, and adds it to a
 * registry where one is named. Only what the operator approved is published: the signature says that its
 * publisher stands for the program.
 */

import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { isSameJson, SchemaValidator } from "@toolcrib/json";
import {
  archiveNameOf,
  keyIdOf,
  type Manifest,
  type PackageFiles,
  type ProgramPackage,
  parsePackage,
  signaturePath,
  signPackage,
  type ToolPackage,
  writeProgramPackage,
} from "@toolcrib/mcpkg";
import { readRegistryFolder } from "@toolcrib/mcpkg-registry";
import { storedStanding, toProgramPackage } from "@toolcrib/metatool";
import type { SavedTool } from "@toolcrib/store";
import { savedNamespace } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { inspectPrograms } from "../package/inspect-programs.ts";
import { publisherKey } from "../package/publisher-key-file.ts";
import { readPackage } from "../package/read-package.ts";
import { writePackageArchive } from "../package/write-package.ts";
import { addToRegistry } from "../registry/manage-registry.ts";
import { registryFolderOf } from "../registry/open-package-registries.ts";
import { unusableTests } from "./exchange-saved.ts";
import { compare, nextVersion, type ReleaseKind, releaseKindOf } from "./next-version.ts";
import { openApprovals, openSaved, requireSaved } from "./open-saved.ts";

/** Options of the command. */
export interface PublishFlags {
  readonly id: string;
  readonly packageVersion?: string;
  readonly bump?: ReleaseKind;
  readonly license?: string;
  readonly author?: string;
  readonly website?: string;
  readonly homepage?: string;
  readonly tag?: readonly string[];
  readonly tool?: readonly string[];
  readonly withoutReplies?: boolean;
  readonly out?: string;
  readonly key?: string;
  readonly registry?: string;
  readonly registryKey?: string;
}

/** Runs the command. */
export async function publishSaved(
  context: CliContext,
  name: string,
  flags: PublishFlags,
): Promise<ExitCode> {
  const { output } = context;
  const tool = await approvedTool(context, name, flags);
  const previous = await findRelease(context, flags);
  const content = contentOf(tool, flags, previous?.manifest);
  const change = previous && releaseKindOf(previous.manifest, content);
  if (previous !== undefined && isSameRelease(content, previous)) {
    return reportUnchanged(context, previous, flags);
  }
  const version = nextVersion({
    previous: previous?.manifest.version,
    change: change ?? { kind: "patch", reason: "" },
    bump: flags.bump,
    version: flags.packageVersion,
  });
  const found = parse(name, { ...content, version });
  const key = await publisherKey(context, flags.key);
  const file = flags.out ?? archiveNameOf(found.manifest);
  const written = await writePackageArchive(context, file, signPackage(found, key));
  if (flags.registry !== undefined) {
    await addToRegistry({ ...context, output: quiet(context) }, flags.registry, [file], {
      ...(flags.registryKey === undefined ? {} : { key: flags.registryKey }),
    });
  }
  const { tools = [] } = content;
  output.json({
    name,
    toolId: flags.id,
    version,
    ...written,
    keyId: keyIdOf(key),
    reach: tools,
    tests: found.tests.size,
    registry: flags.registry ?? null,
  });
  output.print(
    `Published ${safeLine(name)} as ${output.style("bold", `${flags.id} ${version}`)} in ${safeLine(file)}: ${counted(found.tests.size, "test")}, ${written.bytes} bytes, ${written.digest}`,
    ...(change === undefined
      ? []
      : [`A ${change.kind} change of ${previous?.manifest.version}: ${safeLine(change.reason)}`]),
    `Signed by ${keyIdOf(key)}`,
    `Its program can call ${tools.length === 0 ? "no tool" : tools.map(safeLine).join(", ")}`,
    ...(flags.registry === undefined ? [] : [`Added to the registry ${safeLine(flags.registry)}`]),
  );
  output.note(...remarksOf(context, name, content));
  return exitCodes.done;
}

/** The output of a step of another command, which prints nothing. */
function quiet({ output }: CliContext): CliContext["output"] {
  return Object.assign(Object.create(output) as CliContext["output"], { print() {}, json() {} });
}

/** @throws {CliError} `CLI_PUBLISH_REFUSED` for a tool that the operator did not approve, or whose reach is not known */
async function approvedTool(context: CliContext, name: string, flags: PublishFlags): Promise<SavedTool> {
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  const tool = await requireSaved(context, saved, name);
  const { reach, needsApproval, isApproved } = storedStanding(tool, approvals);
  const command = `toolcrib${context.options.homeFlag} saved`;
  if (needsApproval || !isApproved) {
    throw refused(name, "it is not approved", `read it, then approve it: ${command} show ${name}`);
  }
  if (reach === undefined) {
    throw refused(
      name,
      "which tools it calls is not known: its file was written by hand",
      `save it, so that its program is analysed: toolcrib save FILE --name ${name}`,
    );
  }
  if (reach.includes("*") && flags.tool === undefined) {
    throw refused(
      name,
      "its program chooses tools at run time, and a package names all that it can call",
      "name each of them with --tool ID, such as --tool github:search",
    );
  }
  return tool;
}

function refused(name: string, reason: string, hint: string): CliError {
  return new CliError("CLI_PUBLISH_REFUSED", `Cannot publish "${name}": ${reason}`, { hint });
}

/** The content of the package; what no option says is as in the release before. Its version is set later. */
function contentOf(tool: SavedTool, flags: PublishFlags, previous: Manifest | undefined): ProgramPackage {
  const { value, diagnostics } = toProgramPackage(tool, {
    toolId: flags.id,
    ...(flags.tool === undefined ? {} : { moreTools: flags.tool }),
    hasReplies: flags.withoutReplies !== true,
    meta: metaOf(flags, previous?.meta),
  });
  if (hasErrors(diagnostics)) throw unusableTests(tool.name, diagnostics);
  return value;
}

function metaOf(flags: PublishFlags, previous: Manifest["meta"]): NonNullable<Manifest["meta"]> {
  const [id = ""] = flags.id.split(".");
  const { author, website, license, homepage, tag } = flags;
  return {
    ...previous,
    publisher: {
      ...previous?.publisher,
      id,
      ...(author === undefined ? {} : { name: author }),
      ...(website === undefined ? {} : { website }),
    },
    ...(license === undefined ? {} : { license }),
    ...(homepage === undefined ? {} : { homepage }),
    ...(tag === undefined ? {} : { tags: tag }),
  };
}

/** The newest release: of the registry, and of the archives beside the one that is written. */
async function findRelease(
  context: CliContext,
  { id, out, registry }: PublishFlags,
): Promise<ToolPackage | undefined> {
  const folder = dirname(resolve(context.directory, out ?? "archive"));
  const names = await readdir(folder).catch(() => []);
  const found: string[] = names
    .filter((one) => one.startsWith(`${id}-`) && one.endsWith(".mcpkg"))
    .map((one) => join(folder, one));
  if (registry !== undefined) {
    const path = await registryFolderOf(context, registry);
    const { entries } = await readRegistryFolder(path);
    const own = entries.filter(({ toolId }) => toolId === id);
    found.push(...own.map((one) => join(path, "packages", archiveNameOf(one))));
  }
  let newest: ToolPackage | undefined;
  for (const path of found) {
    const read = await readPackage(context, path);
    if (!("found" in read) || read.found.manifest.toolId !== id) continue;
    const { version } = read.found.manifest;
    if (newest === undefined || compare(version, newest.manifest.version) > 0) newest = read.found;
  }
  return newest;
}

/** Whether a release has exactly these contents. */
function isSameRelease(content: ProgramPackage, { manifest, files }: ToolPackage): boolean {
  const own = writeProgramPackage({ ...content, version: manifest.version });
  const others = [...files.keys()].filter((path) => path !== signaturePath);
  return (
    others.length === own.size &&
    [...own].every(([path, text]) => {
      const bytes = files.get(path)?.bytes;
      return bytes !== undefined && isSameJson(Buffer.from(bytes).toString("utf8"), text);
    })
  );
}

function reportUnchanged(context: CliContext, { manifest }: ToolPackage, flags: PublishFlags): ExitCode {
  const { toolId, version } = manifest;
  context.output.json({ toolId, version, isUnchanged: true, registry: flags.registry ?? null });
  context.output.print(`${toolId} ${version} is released already, and nothing changed since`);
  return exitCodes.done;
}

/** @throws {CliError} `CLI_PACKAGE_INVALID` */
function parse(name: string, content: ProgramPackage): ToolPackage {
  const files: PackageFiles = new Map(
    [...writeProgramPackage(content)].map(([path, text]) => [
      path,
      { bytes: Buffer.from(text), isExecutable: false },
    ]),
  );
  const { value, diagnostics: own } = parsePackage(files, new SchemaValidator());
  const diagnostics = [...own, ...(value === undefined ? [] : inspectPrograms(value))];
  if (value !== undefined && !hasErrors(diagnostics)) return value;
  throw new CliError("CLI_PACKAGE_INVALID", `Cannot publish "${name}": ${formatDiagnostics(diagnostics)}`, {
    data: { diagnostics },
  });
}

/** Returns remarks for the publisher, before others have the package. */
function remarksOf(
  { options }: CliContext,
  name: string,
  { tests, tools = [] }: ProgramPackage,
): readonly string[] {
  const replies = tests.reduce((sum, one) => sum + (one.replies?.length ?? 0), 0);
  const saved = tools.filter((id) => id.startsWith(`${savedNamespace}:`));
  return [
    ...(tests.length > 0
      ? []
      : [
          `It has no tests; record one: toolcrib${options.homeFlag} saved test ${name} --record --params JSON`,
        ]),
    ...(replies === 0
      ? []
      : [
          `Its tests contain ${counted(replies, "recorded answer")} of tools: read them before others do, or leave them out with --without-replies`,
        ]),
    ...(saved.length === 0
      ? []
      : [
          `It calls saved tools, which exist only where somebody saved them: ${saved.map(safeLine).join(", ")}`,
        ]),
  ];
}
