/**
 * Finds the services that the engine serves: one pair of files, or a folder with a subfolder for each service. Reads
 * the options that are meant for one of several services (`SERVICE/NAME=VALUE`).
 */

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { reasonOf } from "@toolcrib/files";
import { CliError } from "../cli-error.ts";
import { readPairs } from "../name-value-pairs.ts";
import type { ProcessContext } from "../process-context.ts";
import { readSecretNames } from "./open-toolpack-egress.ts";
import { imagePaths, type PairFlags, type ReadPair, readPair } from "./read-pair.ts";

/** Options that name the files and their settings. */
export interface ToolpackFlags extends PairFlags {
  readonly folder?: string;
  readonly secret?: readonly string[];
  readonly variable?: readonly string[];
  readonly reserved?: readonly string[];
}

/** One service, with the settings that are meant for it. */
export interface ServedToolpack extends ReadPair {
  /** The names of secrets by the id of their credential. */
  readonly secretNames: ReadonlyMap<string, string>;
  readonly variables: { readonly [name: string]: string };
  /** Path parameters whose slashes are kept, as `tool.parameter`. */
  readonly reserved: readonly string[];
}

/** The services of an engine. */
export interface ServedToolpacks {
  readonly toolpacks: readonly ServedToolpack[];
  /** Whether tools are named `SERVICE__TOOL`, and options `SERVICE/NAME=VALUE`. */
  readonly isPrefixed: boolean;
}

/** Most services of one engine. */
const toolpacksMaxCount = 64;

/**
 * Reads the services that `flags` name; without any, those of the image.
 *
 * @throws {CliError} as `readPair` does, and `CLI_USAGE`
 */
export async function readToolpacks(flags: ToolpackFlags, context: ProcessContext): Promise<ServedToolpacks> {
  const isPair = flags.manifest !== undefined || flags.toolspec !== undefined;
  if (isPair && flags.folder !== undefined) {
    throw new CliError("CLI_USAGE", "--folder cannot be used with --manifest and --toolspec", {
      hint: "a folder contains both files of each service",
    });
  }
  const isOfImage = !isPair && !existsSync(imagePaths.manifest) && existsSync(imagePaths.folder);
  const folder = flags.folder ?? (isOfImage ? imagePaths.folder : undefined);
  if (folder === undefined) {
    const pair = await readPair(flags, context);
    return { toolpacks: [withSettings(pair, flags)], isPrefixed: false };
  }
  const pairs: ReadPair[] = [];
  for (const name of await listServices(folder, context)) {
    const files = {
      manifest: join(folder, name, "manifest.yaml"),
      toolspec: join(folder, name, "toolspec.yaml"),
    };
    const pair = await readPair(files, context);
    if (pair.manifest.name !== name) {
      throw new CliError(
        "CLI_USAGE",
        `The folder "${join(folder, name)}" has the files of "${pair.manifest.name}"`,
        {
          hint: "name the folder as the service",
        },
      );
    }
    pairs.push(pair);
  }
  const names = pairs.map(({ manifest }) => manifest.name);
  const settings = splitSettings(flags, names);
  return {
    toolpacks: pairs.map((pair) => withSettings(pair, settings(pair.manifest.name))),
    isPrefixed: true,
  };
}

async function listServices(folder: string, context: ProcessContext): Promise<readonly string[]> {
  let names: readonly string[];
  try {
    const entries = await readdir(resolve(context.directory, folder), { withFileTypes: true });
    names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${folder}": ${reasonOf(error)}`);
  }
  if (names.length > 0 && names.length <= toolpacksMaxCount) return names.toSorted();
  throw new CliError(
    "CLI_USAGE",
    `"${folder}" has ${names.length} services, and 1 to ${toolpacksMaxCount} are possible`,
    {
      hint: "each service is a folder with manifest.yaml and toolspec.yaml",
    },
  );
}

type Settings = Pick<ToolpackFlags, "secret" | "variable" | "reserved">;

/** Returns what finds the options of one of several services, without their prefix. */
function splitSettings(flags: Settings, names: readonly string[]): (name: string) => Settings {
  for (const text of [flags.secret, flags.variable, flags.reserved].flatMap((list) => list ?? [])) {
    if (names.some((name) => text.startsWith(`${name}/`))) continue;
    throw new CliError("CLI_USAGE", `${JSON.stringify(text.replace(/=.*$/s, ""))} names no service`, {
      hint: `write SERVICE/NAME=VALUE; the services are ${names.join(", ")}`,
    });
  }
  return (name) => {
    const own = (list: readonly string[] = []) =>
      list.filter((text) => text.startsWith(`${name}/`)).map((text) => text.slice(name.length + 1));
    return { secret: own(flags.secret), variable: own(flags.variable), reserved: own(flags.reserved) };
  };
}

function withSettings(
  pair: ReadPair,
  { secret = [], variable = [], reserved = [] }: Settings,
): ServedToolpack {
  return {
    ...pair,
    secretNames: readSecretNames(secret, pair.manifest),
    variables: readPairs(
      variable,
      (text) =>
        new CliError("CLI_USAGE", `--variable ${JSON.stringify(text)} has no value`, {
          hint: "write --variable NAME=VALUE",
        }),
    ),
    reserved,
  };
}
