/** `toolcrib registry init`, `add`, `remove`, `yank` and `renew`, and `toolcrib publish`: change the folder of a registry. */

import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { SchemaValidator } from "@toolcrib/json";
import { openPackage, packageMaxBytes } from "@toolcrib/mcpkg";
import {
  addPackages,
  changeRegistry,
  initRegistry,
  type RegistryFolder,
  removePackage,
  rotateRegistryKey,
  yankPackage,
} from "@toolcrib/mcpkg-registry";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { inspectPrograms } from "../package/inspect-programs.ts";
import { signingKey } from "../package/publisher-key-file.ts";
import { registryFolderOf } from "./open-package-registries.ts";

/** Archives of one command, in bytes together. */
const archivesMaxBytes = 1024 * 1024 * 1024;

/** Options of all commands that sign an index. */
export interface KeyFlags {
  readonly key?: string;
}

/** Runs `registry init`. */
export async function createRegistry(
  context: CliContext,
  folder: string,
  flags: KeyFlags & { readonly name?: string; readonly expires?: number },
): Promise<ExitCode> {
  const path = resolve(context.directory, folder);
  const key = await signingKey(context, flags.key, "registry");
  const name = flags.name ?? path.split(/[\\/]/).at(-1) ?? "registry";
  const options = { name, ...(flags.expires === undefined ? {} : { validMs: flags.expires }) };
  const registry = await initRegistry(depsOf(context), path, key, options);
  report(context, registry, `Created the registry ${safeLine(name)} in ${safeLine(folder)}`, {});
  context.output.print(
    `Its key is ${registry.statement.keyId}: tell it to those who use the registry`,
    `The index expires on ${registry.statement.expiresAt}; each change renews it, and so does: toolcrib${context.options.homeFlag} registry renew ${safeLine(folder)}`,
  );
  return exitCodes.done;
}

/** Options of `registry add` and `publish`. */
export interface AddFlags extends KeyFlags {
  readonly allowUnsigned?: boolean;
  readonly allowNewKey?: boolean;
}

/** Runs `registry add` and `publish`. */
export async function addToRegistry(
  context: CliContext,
  folder: string,
  files: readonly string[],
  flags: AddFlags,
): Promise<ExitCode> {
  const { output } = context;
  const path = await existingRegistryFolder(context, folder);
  const archives: { readonly name: string; readonly bytes: Uint8Array }[] = [];
  let total = 0;
  for (const name of files) {
    const bytes = await readArchiveFile(context, name);
    total += bytes.length;
    if (total > archivesMaxBytes) {
      throw new CliError("CLI_USAGE", `The packages have more than ${archivesMaxBytes} bytes together`, {
        hint: "add them in several steps",
      });
    }
    archives.push({ name, bytes });
    await requireSoundPrograms(name, bytes);
  }
  const key = await signingKey(context, flags.key, "registry");
  const result = await addPackages(depsOf(context), path, key, archives, {
    allowsUnsigned: flags.allowUnsigned === true,
    allowsNewKey: flags.allowNewKey === true,
  });
  const { registry, added, present, warnings } = result;
  if (!output.isJson && warnings.length > 0) output.note(formatDiagnostics(warnings), "");
  for (const { toolId, version } of present) {
    output.note(`${toolId} ${version} is there already, with the same contents`);
  }
  const shown = added.map(({ toolId, version }) => `${toolId} ${version}`);
  report(context, registry, added.length === 0 ? "Added nothing" : `Added ${shown.join(", ")}`, {
    added,
    present,
  });
  return exitCodes.done;
}

/** Refuses a package whose program calls what it does not declare. What else is wrong, the registry reports. */
async function requireSoundPrograms(name: string, bytes: Uint8Array): Promise<void> {
  const { value } = await openPackage(bytes, new SchemaValidator());
  const diagnostics = value === undefined ? [] : inspectPrograms(value);
  if (!hasErrors(diagnostics)) return;
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  throw new CliError("CLI_PACKAGE_INVALID", `The package "${name}" has ${count} error(s)`, {
    data: { diagnostics },
  });
}

/** Runs `registry remove`. */
export async function removeFromRegistry(
  context: CliContext,
  folder: string,
  name: string,
  flags: KeyFlags,
): Promise<ExitCode> {
  const version = versionNameOf(name);
  const path = await existingRegistryFolder(context, folder);
  const registry = await removePackage(
    depsOf(context),
    path,
    await signingKey(context, flags.key, "registry"),
    version,
  );
  report(context, registry, `Removed ${version.toolId} ${version.version}`, { removed: version });
  return exitCodes.done;
}

/** Runs `registry yank`. */
export async function yankFromRegistry(
  context: CliContext,
  folder: string,
  name: string,
  flags: KeyFlags & { readonly undo?: boolean; readonly reason?: string },
): Promise<ExitCode> {
  const version = versionNameOf(name);
  const isYanked = flags.undo !== true;
  const path = await existingRegistryFolder(context, folder);
  const registry = await yankPackage(
    depsOf(context),
    path,
    await signingKey(context, flags.key, "registry"),
    {
      ...version,
      isYanked,
      ...(flags.reason === undefined ? {} : { reason: flags.reason.slice(0, 1000) }),
    },
  );
  const text = `${version.toolId} ${version.version}`;
  report(
    context,
    registry,
    isYanked ? `Withdrew ${text}: ranges do not select it any more` : `${text} is offered again`,
    { [isYanked ? "yanked" : "offered"]: version },
  );
  return exitCodes.done;
}

/** Runs `registry renew`. */
export async function renewRegistry(context: CliContext, folder: string, flags: KeyFlags): Promise<ExitCode> {
  const path = await existingRegistryFolder(context, folder);
  const key = await signingKey(context, flags.key, "registry");
  const registry = await changeRegistry(depsOf(context), path, key, (entries) => entries);
  report(context, registry, `Renewed the index: it expires on ${registry.statement.expiresAt}`, {});
  return exitCodes.done;
}

/** Runs `registry rotate`. */
export async function rotateRegistry(
  context: CliContext,
  folder: string,
  flags: KeyFlags & { readonly newKey?: string; readonly accept?: number },
): Promise<ExitCode> {
  if (flags.newKey === undefined) {
    throw new CliError("CLI_USAGE", "registry rotate needs the new key: --new-key FILE", {
      hint: "create one with: openssl genpkey -algorithm ed25519 -out FILE; chmod 600 FILE",
    });
  }
  const path = await existingRegistryFolder(context, folder);
  const oldKey = await signingKey(context, flags.key, "registry");
  const newKey = await signingKey(context, flags.newKey, "registry");
  const registry = await rotateRegistryKey(depsOf(context), path, {
    oldKey,
    newKey,
    acceptedMs: flags.accept,
  });
  const { keyId } = registry.statement;
  report(context, registry, `Replaced the key: ${keyId} signs the index from now on`, { keyId });
  context.output.print(
    "Clients that know the old key accept the new one for the time that was stated; tell the new one to all others",
    `Sign with it from now on: --key ${safeLine(flags.newKey)}`,
  );
  return exitCodes.done;
}

/** Returns the folder of a registry. @throws {CliError} `CLI_FILE_UNUSABLE` where it is no folder; as `registryFolderOf` */
async function existingRegistryFolder(context: CliContext, text: string): Promise<string> {
  const path = await registryFolderOf(context, text);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return path;
  const reason = found === undefined ? "there is no such folder" : "it is not a folder";
  throw new CliError("CLI_FILE_UNUSABLE", `Cannot open the registry "${text}" in "${path}": ${reason}`, {
    hint: `create a registry with toolcrib registry init FOLDER; toolcrib registry list shows those of the configuration`,
  });
}

function depsOf({ now }: CliContext) {
  return { now, randomBytes };
}

function report({ output }: CliContext, { statement }: RegistryFolder, done: string, data: object): void {
  const { name, sequence, expiresAt, keyId, list } = statement;
  output.json({ ...data, registry: { name, sequence, expiresAt, keyId, versions: list.count } });
  output.print(done, `Index number ${sequence}: ${counted(list.count, "version")}`);
}

/** Reads `toolId@version`. */
function versionNameOf(text: string): { readonly toolId: string; readonly version: string } {
  const [, toolId, version] = /^([^@]+)@([^@]+)$/.exec(text) ?? [];
  if (toolId !== undefined && version !== undefined) return { toolId, version };
  throw new CliError("CLI_USAGE", `"${text}" names no version of a package`, {
    hint: "write TOOLID@VERSION, such as demo.echo@0.1.0",
  });
}

async function readArchiveFile({ directory }: CliContext, name: string): Promise<Uint8Array> {
  try {
    return (await readRegularFile(resolve(directory, name), packageMaxBytes)).bytes;
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${name}": ${reasonOf(cause)}`, { cause });
  }
}
