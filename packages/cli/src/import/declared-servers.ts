/** The servers that a configuration file declares, as an import compares them. Pure. */

import type { parseConfigLayer } from "@toolcrib/config";
import { fieldOf, toJsonValue } from "@toolcrib/document";
import type { JsonObject } from "@toolcrib/json";

/** An entry of `tool_servers`. */
export interface DeclaredServer {
  readonly id: string;
  /** Its transport as it is written; empty where it has none. */
  readonly transport: JsonObject;
  /** Whether it is switched off. */
  readonly isOff: boolean;
}

/** Returns the servers of a file, also of an invalid one. */
export function declaredServers(
  layer: Pick<ReturnType<typeof parseConfigLayer>, "serverNodes">,
): readonly DeclaredServer[] {
  return layer.serverNodes.map((node) => {
    const transport = fieldOf(node, "transport");
    const value = transport === undefined ? {} : toJsonValue(transport);
    const id = fieldOf(node, "id");
    const enabled = fieldOf(node, "enabled");
    return {
      isOff: enabled?.kind === "scalar" && enabled.value === false,
      id: id?.kind === "scalar" ? id.text : "",
      transport: (typeof value === "object" && value !== null ? value : {}) as JsonObject,
    };
  });
}
