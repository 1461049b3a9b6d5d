/** `toolcrib catalog`: shows the APIs that can be added. Changes nothing. */

import { suggestedSecretName } from "@toolcrib/config";
import { placedCredentials } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { firstSentence } from "../tools/list-tools.ts";
import {
  type CatalogEntry,
  findEntries,
  parseEntryName,
  readEntries,
  readEntry,
  type ServerEntry,
  toolCountOf,
} from "./catalog.ts";
import { configurationLines, factLines, headingLines } from "./entry-text.ts";

/** Maximum number of hits of a search. */
const searchMaxHits = 10;

/** Runs `catalog list`. */
export async function listCatalog(
  context: CliContext,
  { category }: { readonly category?: string } = {},
): Promise<ExitCode> {
  const entries = (await readEntries(context)).filter(
    ({ manifest }) => category === undefined || manifest.category?.toLowerCase() === category.toLowerCase(),
  );
  showEntries(
    context,
    entries,
    category === undefined ? "The catalog is empty." : "No API or server has this category.",
    ...(category === undefined ? [] : [`See all of them with ${ownCommand(context)} catalog list`]),
  );
  return exitCodes.done;
}

/** Runs `catalog search`. */
export async function searchCatalog(context: CliContext, words: string): Promise<ExitCode> {
  const hits = findEntries(await readEntries(context), words, searchMaxHits);
  const command = ownCommand(context);
  showEntries(
    context,
    hits,
    "No API or server of the catalog matches.",
    `See all of them with ${command} catalog list`,
    `Add a server from elsewhere by its package or URL: ${command} add --help`,
  );
  return exitCodes.done;
}

function showEntries(
  context: CliContext,
  entries: readonly CatalogEntry[],
  ...nothing: readonly string[]
): void {
  const { output } = context;
  output.json(entries.map(toJson));
  if (entries.length === 0) {
    output.print(...nothing);
    return;
  }
  output.table(
    [
      { title: "NAME", paint: (cell) => output.style("cyan", cell) },
      { title: "VERSION" },
      { title: "KIND" },
      { title: "TOOLS" },
      { title: "CATEGORY" },
      { title: "DESCRIPTION", canShrink: true },
    ],
    entries.map((entry) => [
      entry.manifest.name,
      entry.manifest.version,
      kindOf(entry),
      String(toolCountOf(entry)),
      safeLine(entry.manifest.category ?? ""),
      firstSentence(entry.manifest.description ?? entry.manifest.displayName ?? ""),
    ]),
  );
  output.print("", output.style("dim", `Add one with ${ownCommand(context)} add NAME`));
}

/** Returns the kind of an entry: an API, which Toolcrib calls itself, or a server, which it runs. */
function kindOf({ toolspec }: CatalogEntry): string {
  return toolspec === undefined ? "server" : "API";
}

function toJson(entry: CatalogEntry) {
  const { manifest, toolspec } = entry;
  const { name, version, displayName, description, category, entitlements, credentials } = manifest;
  return {
    name,
    version,
    title: displayName,
    description,
    category,
    hosts: entitlements?.egress ?? [],
    credentials: (credentials ?? []).map(({ id, type }) => ({ id, type })),
    kind: kindOf(entry).toLowerCase(),
    ...(entry.toolspec === undefined
      ? {
          package: { kind: entry.source.kind, name: entry.source.package, version: entry.source.version },
          requires: manifest.requires ?? [],
        }
      : {}),
    variables: Object.keys(toolspec?.variables ?? {}),
    tools: toolCountOf(entry),
  };
}

/** Runs `catalog show`. */
export async function showCatalogEntry(context: CliContext, requested: string): Promise<ExitCode> {
  const { output } = context;
  const { name, version } = parseEntryName(requested);
  const entry = await readEntry(context, name, version);
  if (entry.toolspec === undefined) return showServerEntry(context, entry, requested);
  const { manifest, toolspec } = entry;
  const isDefault = new Set(
    (manifest.tools ?? []).filter((tool) => tool.default === true).map((tool) => tool.name),
  );
  output.json({
    ...toJson(entry),
    tools: toolspec.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      method: tool.method,
      path: tool.path,
      default: isDefault.has(tool.name),
    })),
  });
  output.print(...headingLines(entry, output), "", ...factLines(entry, output), "");
  output.table(
    [
      { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
      { title: "DEFAULT" },
      { title: "METHOD" },
      { title: "DESCRIPTION", canShrink: true },
    ],
    toolspec.tools.map((tool) => [
      tool.name,
      isDefault.has(tool.name) ? "yes" : "",
      tool.method,
      firstSentence(tool.description),
    ]),
  );
  const written = {
    name,
    ...(version === undefined ? {} : { version }),
    ...(placedCredentials(manifest, toolspec).length === 0
      ? {}
      : {
          credentials: Object.fromEntries(
            placedCredentials(manifest, toolspec).map(({ id }) => [
              id,
              { secret_key_ref: suggestedSecretName(name, id) },
            ]),
          ),
        }),
    ...(Object.keys(toolspec.variables ?? {}).length === 0
      ? {}
      : { variables: Object.fromEntries(Object.keys(toolspec.variables ?? {}).map((one) => [one, "…"])) }),
  };
  output.print(
    "",
    `${output.style("bold", "Add it")} with ${ownCommand(context)} add ${name}, or by hand:`,
    ...configurationLines("toolspecs", written).map((line) => `  ${line}`),
  );
  return exitCodes.done;
}

/** Shows a server that the catalog adopts. */
function showServerEntry(context: CliContext, entry: ServerEntry, requested: string): ExitCode {
  const { output } = context;
  const { manifest } = entry;
  const { tools = [], credentials = [] } = manifest;
  output.json({
    ...toJson(entry),
    tools: tools.map(({ name, default: isDefault }) => ({ name, default: isDefault === true })),
  });
  output.print(...headingLines(entry, output), "", ...factLines(entry, output), "");
  output.table(
    [{ title: "TOOL", paint: (cell) => output.style("cyan", cell) }, { title: "DEFAULT" }],
    tools.map((tool) => [safeLine(tool.name), tool.default === true ? "yes" : ""]),
  );
  const written = {
    id: manifest.name,
    transport: { kind: "stdio", manifest: requested },
    ...(credentials.length === 0
      ? {}
      : {
          credentials: Object.fromEntries(
            credentials.map(({ id }) => [id, { secret_key_ref: suggestedSecretName(manifest.name, id) }]),
          ),
        }),
  };
  output.print(
    "",
    `${output.style("bold", "Add it")} with ${ownCommand(context)} add ${requested}, or by hand:`,
    ...configurationLines("tool_servers", written).map((line) => `  ${line}`),
  );
  return exitCodes.done;
}
