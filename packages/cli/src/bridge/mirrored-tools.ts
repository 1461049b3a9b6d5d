/**
 * Arguments that a call mirrors into HTTP headers (`x-mcp-header`, revision 2026-07-28). A client on standard streams
 * sends no headers, so the bridge reads the schemas in the lists that pass, and lists itself what a client calls
 * that has its list from earlier.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { mirroredParametersOf } from "@toolcrib/mcp";

/** Most schemas that are kept; only those with such arguments are. */
const maxCount = 1000;
/** Longest schema that is kept, in characters. */
const schemaMaxLength = 64 * 1024;

/** The schemas of one client's tools. */
export class MirroredTools {
  readonly #schemas = new Map<string, JsonObject>();

  /** Reads a result of `tools/list`. */
  learn({ tools }: JsonObject): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools) {
      if (!isJsonObject(tool) || typeof tool["name"] !== "string") continue;
      const { name, inputSchema } = tool;
      this.#schemas.delete(name);
      if (!isJsonObject(inputSchema)) continue;
      const mirrored = mirroredParametersOf(inputSchema);
      if (mirrored.kind === "invalid" || mirrored.parameters.length === 0) continue;
      if (JSON.stringify(inputSchema).length > schemaMaxLength) continue;
      const [oldest] = this.#schemas.keys();
      if (this.#schemas.size >= maxCount && oldest !== undefined) this.#schemas.delete(oldest);
      this.#schemas.set(name, inputSchema);
    }
  }

  /** Returns the schema of a tool, if arguments of it are mirrored. */
  schemaOf(name: JsonValue | undefined): JsonObject | undefined {
    return typeof name === "string" ? this.#schemas.get(name) : undefined;
  }
}
