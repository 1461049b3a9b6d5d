/** Reads the services to build: entries of the catalog, and pairs of files. */

import { readCatalogPair } from "@toolcrib/config";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { readRegularFileAtOnce } from "@toolcrib/files";
import { jsonPathFault } from "@toolcrib/toolpack";
import type { Toolpack } from "@toolcrib/toolpack-image";
import { lintCatalog } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { readPair } from "../toolpack/read-pair.ts";
import { catalogFolder, parseEntryName, readEntry } from "../toolspec/catalog.ts";

/** Options that name files. */
export interface BuildFileFlags {
  readonly manifest?: readonly string[];
  readonly toolspec?: readonly string[];
}

/** Most services of one build. */
const toolpacksMaxCount = 64;

/**
 * Reads the services.
 *
 * @throws {CliError} `CLI_USAGE`, `CLI_TOOLSPEC_NOT_FOUND`, `CLI_CONFIG_INVALID`, `CLI_FILE_UNUSABLE`
 */
export async function readBuildToolpacks(
  context: CliContext,
  names: readonly string[],
  { manifest = [], toolspec = [] }: BuildFileFlags,
): Promise<readonly Toolpack[]> {
  if (manifest.length !== toolspec.length) {
    throw new CliError("CLI_USAGE", "Each --manifest needs its --toolspec", {
      hint: "give both files of a service: --manifest FILE --toolspec FILE",
    });
  }
  const count = names.length + manifest.length;
  if (count === 0 || count > toolpacksMaxCount) {
    const message = count === 0 ? "No service to build" : `A build has at most ${toolpacksMaxCount} services`;
    throw new CliError("CLI_USAGE", message, {
      hint: "name services of the catalog (toolcrib catalog list), or files: --manifest FILE --toolspec FILE",
    });
  }
  const listed: Toolpack[] = [];
  for (const name of names) listed.push(await readListed(context, name));
  const own: Toolpack[] = [];
  for (const [at, path] of manifest.entries()) own.push(await readOwn(context, path, toolspec[at] ?? ""));
  return [...listed, ...own];
}

async function readListed(context: CliContext, text: string): Promise<Toolpack> {
  const { name, version } = parseEntryName(text);
  // Reports what is wrong with the name, or the files.
  const { manifest, toolspec } = await readEntry(context, name, version);
  if (toolspec === undefined) {
    throw new CliError(
      "CLI_USAGE",
      `${name} is a server of its own, and has no toolspec to build a toolpack from`,
      {
        hint: `add it to a gateway: toolcrib add ${name}`,
      },
    );
  }
  const files = await readCatalogPair(name, manifest.version, {
    readFile: readRegularFileAtOnce,
    catalogFolder: catalogFolder(context),
  });
  if ("code" in files) throw new CliError("CLI_FILE_UNUSABLE", `Cannot read the files of "${name}"`);
  // What is built is what was checked: the files could have been replaced since.
  const read = (["manifest", "toolspec"] as const).map((kind) => ({
    path: "pair",
    name: files[kind].name,
    text: toText(files[kind].text),
    kind,
  }));
  const [pair] = lintCatalog(read, { subject: "toolspecs", jsonPathFault }).pairs;
  if (pair === undefined || pair.manifest.name !== name || pair.manifest.version !== manifest.version) {
    throw new CliError("CLI_FILE_UNUSABLE", `The files of "${name}" changed while they were read`, {
      hint: "build it again",
    });
  }
  const [manifestText = "", toolspecText = ""] = read.map(({ text }) => text);
  return { manifest: pair.manifest, toolspec: pair.toolspec, manifestText, toolspecText };
}

async function readOwn(context: CliContext, manifestPath: string, toolspecPath: string): Promise<Toolpack> {
  const { manifest, toolspec, warnings, texts } = await readPair(
    { manifest: manifestPath, toolspec: toolspecPath },
    context,
  );
  if (warnings.length > 0) context.output.note(formatDiagnostics(warnings), "");
  const [manifestText, toolspecText] = texts;
  return { manifest, toolspec, manifestText, toolspecText };
}

function toText(text: string | Uint8Array): string {
  return typeof text === "string" ? text : new TextDecoder().decode(text);
}
