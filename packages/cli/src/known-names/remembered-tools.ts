/**
 * The tools that servers listed the last time, from the files in the home by which a gateway lists them before they
 * are connected. Only names are read, within limits; a file that is absent or damaged gives none. Starts nothing.
 */

import { join } from "node:path";
import { digestServer } from "@toolcrib/config";
import { readRegularFileAtOnce } from "@toolcrib/files";
import { toWireName } from "@toolcrib/inventory";
import { isJsonObject, parseJson } from "@toolcrib/json";
import { type ToolId, toToolId } from "@toolcrib/tool";

/** Largest file that is read: larger ones take longer than a completion may. */
const fileMaxBytes = 2 * 1024 * 1024;
/** Tools of one server that are read. */
const maxTools = 5000;

type Declaration = Parameters<typeof digestServer>[0];

/** A tool by its names. */
export interface ToolName {
  readonly id: ToolId;
  readonly wireName: string;
}

/** Returns the tools of each of `servers` that are remembered, by the ids of the servers. Never rejects. */
export async function rememberedTools(
  home: string,
  servers: readonly Declaration[],
): Promise<ReadonlyMap<string, readonly ToolName[]>> {
  const found = await Promise.all(
    servers.map(async (server) => [server.id, await namesOf(home, server)] as const),
  );
  return new Map(found.flatMap(([id, tools]) => (tools === undefined ? [] : [[id, tools] as const])));
}

async function namesOf(home: string, server: Declaration): Promise<readonly ToolName[] | undefined> {
  try {
    const path = join(home, "definitions", `${digestServer(server)}.json`);
    const { bytes } = await readRegularFileAtOnce(path, fileMaxBytes);
    const value = parseJson(new TextDecoder().decode(bytes), { maxLength: fileMaxBytes });
    const tools = isJsonObject(value) ? value["tools"] : undefined;
    if (!Array.isArray(tools)) return undefined;
    return tools.slice(0, maxTools).flatMap((tool) => {
      const name = isJsonObject(tool) ? tool["name"] : undefined;
      if (typeof name !== "string" || name === "") return [];
      return [{ id: toToolId(server.id, name), wireName: toWireName(server.id, name) }];
    });
  } catch {
    return undefined;
  }
}
