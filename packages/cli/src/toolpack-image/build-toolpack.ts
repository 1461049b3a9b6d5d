/**
 * `toolcrib toolpack build`: writes services as an image, as packages and as a bundle, with a bill of materials and the
 * provenance. The folder is written completely, or not at all.
 */

import type { KeyObject } from "node:crypto";
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { suggestedSecretName } from "@toolcrib/config";
import { createDirectory, errnoOf } from "@toolcrib/files";
import { canonicalJson } from "@toolcrib/json";
import { keyIdOf, signInToto } from "@toolcrib/mcpkg";
import { secretVariable } from "@toolcrib/secrets";
import {
  archiveLayout,
  type BuiltImage,
  buildBundle,
  buildImage,
  digestOf,
  type FileParts,
  type ImagePlatform,
  type ImageRuntime,
  nameOf,
  type ProvenanceSubject,
  type Toolpack,
  type ToolpackEngine,
  toProvenance,
  versionOf,
  writeBill,
} from "@toolcrib/toolpack-image";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { publisherKey } from "../package/publisher-key-file.ts";
import { type Progress, withProgress } from "../progress/progress.ts";
import { type ServiceVariables, toArguments, toServiceVariables } from "./build-variables.ts";
import { findEngine } from "./find-engine.ts";
import { findParts } from "./part-store.ts";
import { type BuildFileFlags, readBuildToolpacks } from "./read-build-toolpacks.ts";
import { updateManifest, withDigest, withReference } from "./update-manifest.ts";
import { type WrittenPackage, writePackages } from "./write-packages.ts";

type BuildFormat = "image" | "mcpkg" | "mcpb";

/** Options of the command. */
export interface BuildFlags extends BuildFileFlags {
  readonly format?: readonly BuildFormat[];
  readonly out?: string;
  readonly tar?: boolean;
  readonly platform?: readonly ImagePlatform[];
  readonly variable?: readonly string[];
  readonly ref?: string;
  readonly updateManifest?: boolean;
  readonly sign?: boolean;
  readonly key?: string;
  readonly debianMirror?: string;
}

/** The context that every part of a build needs. */
interface Build {
  readonly toolpacks: readonly Toolpack[];
  readonly engine: ToolpackEngine;
  readonly variables: ServiceVariables;
  readonly flags: BuildFlags;
  /** Begins the names of files. */
  readonly name: string;
  readonly key: KeyObject | undefined;
}

/** The results of a build. */
interface Results {
  readonly files: Map<string, FileParts>;
  readonly subjects: ProvenanceSubject[];
}

/** Runs the command. */
export async function buildToolpack(
  context: CliContext,
  names: readonly string[],
  flags: BuildFlags,
): Promise<ExitCode> {
  const formats = [...new Set(flags.format ?? ["image" as const])].toSorted();
  const hasImage = formats.includes("image");
  checkUse(flags, names, hasImage);
  const read = await readBuildToolpacks(context, names, flags);
  const { ref } = flags;
  const isRenamed = flags.updateManifest === true && ref !== undefined;
  const toolpacks = isRenamed ? read.map((one) => withReference(one, ref)) : read;
  const engine = await findEngine();
  const variables = toServiceVariables(toolpacks, flags.variable ?? []);
  const name = `${nameOf(toolpacks).slice(0, 100)}-${versionOf(toolpacks, engine)}`;
  const isSigning = flags.sign === true || flags.key !== undefined;
  const key = isSigning ? await publisherKey(context, flags.key) : undefined;
  const build: Build = { toolpacks, engine, variables, flags, name, key };
  const results: Results = { files: new Map(), subjects: [] };
  const platforms = hasImage ? [...new Set(flags.platform ?? ["linux/amd64" as const])].toSorted() : [];
  const image = hasImage
    ? await withProgress(context, "Building the image", (progress) =>
        addImage(context, build, { platforms, progress }, results),
      )
    : undefined;
  const packages = formats.includes("mcpkg") ? addPackages(build, results) : [];
  if (formats.includes("mcpb")) addBundle(build, results);
  addDescriptions(build, { formats, platforms }, results);
  const [path] = flags.updateManifest === true ? (flags.manifest ?? []) : [];
  const [first] = toolpacks;
  const update =
    path === undefined || first === undefined || image === undefined
      ? undefined
      : withDigest(resolve(context.directory, path), first, image.digest);
  const out = flags.out ?? name;
  await write(context, out, results.files);
  if (update !== undefined) await updateManifest(update);
  report(context, { out, image, packages, results, key });
  return exitCodes.done;
}

function checkUse(flags: BuildFlags, names: readonly string[], hasImage: boolean): void {
  const { tar, platform, ref } = flags;
  if (
    !hasImage &&
    (tar === true || platform !== undefined || ref !== undefined || flags.updateManifest === true)
  ) {
    throw new CliError("CLI_USAGE", "--tar, --platform, --ref and --update-manifest are for images", {
      hint: "add --format image, or omit them",
    });
  }
  if (flags.updateManifest === true && (names.length > 0 || flags.manifest?.length !== 1)) {
    throw new CliError("CLI_USAGE", "--update-manifest needs one service, given with --manifest", {
      hint: "give its files: --manifest FILE --toolspec FILE",
    });
  }
}

async function addImage(
  context: CliContext,
  { toolpacks, engine, variables, flags, name }: Build,
  { platforms, progress }: { readonly platforms: readonly ImagePlatform[]; readonly progress: Progress },
  { files, subjects }: Results,
): Promise<BuiltImage> {
  const runtimes: ImageRuntime[] = [];
  for (const platform of platforms) {
    progress.step(`fetching the runtime for ${platform}`);
    runtimes.push({ platform, contents: (await findParts(context, platform, flags)).contents });
  }
  const args = toArguments(toolpacks, variables);
  progress.step("writing its layers", { isLong: true });
  const image = buildImage({ toolpacks, engine, runtimes, reference: flags.ref, args });
  if (flags.tar === true) files.set(`${name}.oci.tar`, archiveLayout(image));
  else for (const [path, parts] of image.files) files.set(`image/${path}`, parts);
  subjects.push({ name: image.reference, digest: image.digest });
  for (const [platform, digest] of image.manifests) {
    if (digest !== image.digest) subjects.push({ name: `${image.reference} (${platform})`, digest });
  }
  return image;
}

function addPackages(
  { toolpacks, engine, variables, key }: Build,
  { files, subjects }: Results,
): readonly WrittenPackage[] {
  const packages = toolpacks.flatMap((toolpack) =>
    writePackages(toolpack, {
      engine,
      key,
      variables: variables.get(toolpack.manifest.name) ?? {},
      secretVariableOf: (id) => secretVariableOf(toolpack, id),
    }),
  );
  for (const { fileName, archive, digest } of packages) {
    files.set(`packages/${fileName}`, [archive]);
    subjects.push({ name: `packages/${fileName}`, digest });
  }
  return packages;
}

function addBundle({ toolpacks, engine, variables, name }: Build, { files, subjects }: Results): void {
  const bundle = [buildBundle(toolpacks, { engine, secretVariableOf, variables })];
  files.set(`${name}.mcpb`, bundle);
  subjects.push({ name: `${name}.mcpb`, digest: digestOf(bundle) });
}

/** Returns the variable that the engine reads for the secret of a credential. */
function secretVariableOf({ manifest }: Toolpack, credentialId: string): string {
  return secretVariable(suggestedSecretName(manifest.name, credentialId));
}

function addDescriptions(
  { toolpacks, engine, key, variables, flags }: Build,
  {
    formats,
    platforms,
  }: { readonly formats: readonly BuildFormat[]; readonly platforms: readonly ImagePlatform[] },
  { files, subjects }: Results,
): void {
  const bill = toFile(writeBill({ toolpacks, engine, platforms }));
  files.set("sbom.cdx.json", bill);
  const all = [...subjects, { name: "sbom.cdx.json", digest: digestOf(bill) }];
  const statement = toProvenance({
    subjects: all,
    toolpacks,
    engine,
    platforms,
    formats,
    variables,
    reference: flags.ref,
  });
  files.set("provenance.json", toFile(`${canonicalJson(statement)}\n`));
  if (key !== undefined) files.set("provenance.dsse.json", [signInToto(statement, key)]);
}

function toFile(text: string): FileParts {
  return [new TextEncoder().encode(text)];
}

async function write(
  { directory }: CliContext,
  out: string,
  files: ReadonlyMap<string, FileParts>,
): Promise<void> {
  try {
    await createDirectory({ randomBytes }, resolve(directory, out), files, { fileMode: 0o644 });
  } catch (error) {
    const errno = errnoOf((error as Error).cause);
    if (errno !== "ENOTEMPTY" && errno !== "EEXIST" && errno !== "ENOTDIR") throw error;
    throw new CliError("CLI_FILE_EXISTS", `Cannot write to "${out}": something else is there`, {
      hint: "remove it, or write to another folder: --out DIR",
    });
  }
}

interface Report {
  readonly out: string;
  readonly image: BuiltImage | undefined;
  readonly packages: readonly WrittenPackage[];
  readonly results: Results;
  readonly key: KeyObject | undefined;
}

function report({ output }: CliContext, { out, image, packages, results, key }: Report): void {
  output.json({
    out,
    image: image && { reference: image.reference, digest: image.digest },
    packages: packages.map(({ toolId, version, fileName, digest, engineReason, lacksCredential }) => ({
      toolId,
      version,
      file: `packages/${fileName}`,
      digest,
      endpoint: engineReason === undefined ? "http" : "local",
      reason: engineReason,
      lacksCredential,
    })),
    files: [...results.files.keys()],
    keyId: key && keyIdOf(key),
  });
  const local = packages.filter(({ engineReason }) => engineReason !== undefined);
  const unauthenticated = packages.filter(({ lacksCredential }) => lacksCredential);
  output.print(
    `Wrote ${safeLine(out)}: ${results.files.size} files`,
    ...(image === undefined ? [] : [`Image ${safeLine(image.reference)} ${image.digest}`]),
    ...(packages.length === 0
      ? []
      : [
          `${packages.length} packages, one for each tool: ${packages.length - local.length} are requests, ${local.length} contain the engine`,
        ]),
    ...(key === undefined ? [] : [`Signed by ${keyIdOf(key)}`]),
  );
  if (unauthenticated.length > 0) {
    output.note(
      `${output.noteStyle("yellow", "warning")}: programs of packages get no secrets: ${counted(unauthenticated.length, "package")} with the engine cannot authenticate in a gateway: ${unauthenticated.map(({ toolId }) => safeLine(toolId)).join(", ")}`,
      "hint: run the toolspec itself in the gateway (toolspecs), or build an image or a bundle",
    );
  }
}
