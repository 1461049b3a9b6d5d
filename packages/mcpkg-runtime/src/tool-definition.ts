/** The tool of a package, as the gateway lists it. Pure. */

import type { JsonObject } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import { normalizeTags, type Tool, type ToolAnnotations, toToolId } from "@toolcrib/tool";
import { annotationsOf as annotationsOfMethod } from "@toolcrib/toolspec";

/**
 * Returns the tool of `manifest`. Its namespace is the toolId and its name the last part of that: the package is the
 * unit of trust, as a tool server is, and no publisher reaches the namespace of another one by its choice of an id.
 *
 * @param notes members of the definition's `_meta`. @default none
 */
export function toolOf(manifest: Manifest, notes?: JsonObject): Tool {
  const { toolId, name: title, description, capabilities, input_schema, output_schema, meta } = manifest;
  const name = toolId.slice(toolId.lastIndexOf(".") + 1);
  const annotations = annotationsOf(manifest);
  return {
    id: toToolId(toolId, name),
    namespace: toolId,
    tags: normalizeTags([...capabilities, ...(meta?.tags ?? [])]),
    origin: "package",
    sourceId: toolId,
    definition: {
      name,
      title,
      description,
      inputSchema: { type: "object", ...input_schema },
      outputSchema: output_schema,
      ...(annotations === undefined ? {} : { annotations }),
      ...(notes === undefined ? {} : { _meta: notes }),
    },
  };
}

/**
 * The annotations that follow from an endpoint: an HTTP method says what it does, as for toolspecs. A manifest has none
 * of its own, so that programs and chains have MCP's defaults: they write, and they reach other systems.
 */
function annotationsOf({ toolId, endpoint, implementations }: Manifest): ToolAnnotations | undefined {
  if (endpoint?.type !== "http" || implementations !== undefined) return undefined;
  const { method } = endpoint;
  // These read, as GET does.
  const planned = method === "HEAD" || method === "OPTIONS" ? "GET" : method;
  return annotationsOfMethod({ name: toolId, description: "", method: planned, path: "/" });
}
