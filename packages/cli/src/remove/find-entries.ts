/** Finds the configuration files that contain entries, and explains ids that no file of ours contains. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type EntrySection, parseConfigLayer } from "@toolcrib/config";
import { didYouMean } from "@toolcrib/diagnostics";
import { installedIds } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";

/** Where an entry is. */
export interface FoundEntry {
  readonly id: string;
  /** Complete path of its file. */
  readonly path: string;
  readonly section: EntrySection;
}

type Layer = ReturnType<typeof parseConfigLayer>;

/**
 * Returns the places of `ids` in `files`: of an id in several files the last, which is the one in force.
 *
 * @throws {CliError} `CLI_SERVER_NOT_FOUND`, `CLI_CONFIG_NOT_EDITABLE`
 */
export async function findEntries(
  context: CliContext,
  ids: readonly string[],
  files: readonly string[],
): Promise<readonly FoundEntry[]> {
  const layers = files.map((file) => {
    const path = resolve(context.directory, file);
    return { path, shown: file, layer: parseConfigLayer({ name: file, text: readFileSync(path, "utf8") }) };
  });
  const known = layers.flatMap(({ layer }) => [...layer.serverIds, ...layer.toolspecIds].map(({ id }) => id));
  const packages = await installedIds(context);
  return [...new Set(ids)].map((id) => {
    const found = layers.findLast(({ layer }) => has(layer, id));
    if (found !== undefined) {
      const section = sectionOf(found.layer, id);
      if (section !== undefined) return { id, path: found.path, section };
      throw new CliError(
        "CLI_CONFIG_NOT_EDITABLE",
        `Nothing was removed: "${id}" is declared in ${found.shown} in the notation of another program`,
        {
          hint: `remove it there, as it is that program's file, or hide it here: toolcrib disable server ${id}`,
        },
      );
    }
    throw unknown(id, known, packages);
  });
}

function has({ serverIds, toolspecIds }: Layer, id: string): boolean {
  return [...serverIds, ...toolspecIds].some((one) => one.id === id);
}

/** The section that lists an entry; undefined for one in the notation of another program. */
function sectionOf({ tree, toolspecIds }: Layer, id: string): EntrySection | undefined {
  if (toolspecIds.some((one) => one.id === id)) return "toolspecs";
  return positionOf(tree, "tool_servers", id) === -1 ? undefined : "tool_servers";
}

function unknown(id: string, known: readonly string[], packages: readonly string[]): CliError {
  const isPackage = packages.includes(id);
  const message = isPackage
    ? `Nothing was removed: "${id}" is an installed package and no entry of the configuration`
    : `Nothing was removed: the configuration has no tool server and no toolspec "${id.slice(0, 256)}"`;
  const hint = isPackage
    ? `toolcrib uninstall ${id} removes it`
    : (didYouMean(id, known) ?? (known.length === 0 ? "it has no entries" : `it has ${known.join(", ")}`));
  return new CliError("CLI_SERVER_NOT_FOUND", message, { hint });
}

/** The position of an entry in its section; -1 where it is not there. */
export function positionOf(tree: Layer["tree"], section: EntrySection, id: string): number {
  const entry = tree?.kind === "map" ? tree.entries.find(({ key }) => key === section) : undefined;
  if (entry?.value.kind !== "list") return -1;
  const fields = section === "toolspecs" ? ["id", "name"] : ["id"];
  return entry.value.items.findIndex((item) => {
    if (item.kind !== "map") return false;
    const field = fields
      .map((name) => item.entries.find(({ key }) => key === name))
      .find((one) => one !== undefined);
    return field?.value.kind === "scalar" && field.value.text.trim() === id;
  });
}
