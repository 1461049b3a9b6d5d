/** Defines tools as MCP lists them: input schemas from parameters, annotations from methods. */

import type { JsonObject } from "@toolcrib/json";
import type { Manifest } from "./manifest/manifest.ts";
import { argumentName } from "./plan/argument-names.ts";
import type {
  ParamType,
  Toolspec,
  ToolspecAnnotations,
  ToolspecMethod,
  ToolspecTool,
} from "./spec/toolspec.ts";

/** A tool as a model sees it, and the facts that the engine needs to call it. */
export interface ToolspecDefinition {
  /** An MCP `Tool`. */
  readonly definition: {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: JsonObject;
    readonly annotations: ToolspecAnnotations;
  };
  readonly tool: ToolspecTool;
  /** Whether the manifest exposes the tool by default. */
  readonly isDefault: boolean;
}

/** Returns the tools of `spec`, in its order. Without a manifest all of them are exposed by default. */
export function toolDefinitions(spec: Toolspec, manifest?: Manifest): readonly ToolspecDefinition[] {
  const defaults = new Set(manifest?.tools?.filter((tool) => tool.default === true).map(({ name }) => name));
  return spec.tools.map((tool) => ({
    definition: {
      name: tool.name,
      description: tool.description,
      inputSchema: inputSchemaOf(tool),
      annotations: annotationsOf(tool),
    },
    tool,
    isDefault: manifest === undefined || defaults.has(tool.name),
  }));
}

const schemas: { readonly [T in ParamType]: JsonObject } = {
  string: { type: "string" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  object: { type: "object" },
  // Some clients refuse an array schema without `items`.
  array: { type: "array", items: {} },
};

/** Returns the JSON Schema of the arguments of `tool`. */
export function inputSchemaOf(tool: ToolspecTool): JsonObject {
  const params = (tool.params ?? []).filter(({ value }) => value === undefined);
  const required = params
    .filter((param) => param.required === true)
    .map(({ name }) => argumentName(tool, name));
  return {
    type: "object",
    properties: Object.fromEntries(
      params.map(({ name, type, description, contentEncoding, enum: values }) => [
        argumentName(tool, name),
        {
          ...schemas[type],
          ...(values === undefined ? {} : { enum: values }),
          ...(contentEncoding === undefined ? {} : { contentEncoding }),
          ...(description === undefined ? {} : { description }),
        },
      ]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** Hints that follow from a method (RFC 9110). POST and PATCH imply none, so that the cautious defaults of MCP apply. */
const ofMethod: { readonly [M in ToolspecMethod]: ToolspecAnnotations } = {
  GET: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  POST: { readOnlyHint: false, openWorldHint: true },
  PUT: { readOnlyHint: false, idempotentHint: true, openWorldHint: true },
  PATCH: { readOnlyHint: false, openWorldHint: true },
  DELETE: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
};

/** Returns the annotations of `tool`: derived from its method, overridden by the toolspec. */
export function annotationsOf(tool: ToolspecTool): ToolspecAnnotations {
  return { ...ofMethod[tool.method], ...tool.annotations };
}
