/** The core tools of document 003, as clients see them. Data only. */

import type { JsonObject } from "@toolcrib/json";
import type { ToolDefinition } from "@toolcrib/tool";
import { testToolDefinition, testToolName } from "../test/test-tool.ts";
import { orError, responseSchema } from "./envelope.ts";

/** Names of the core tools, as they are on the wire. */
export const coreToolNames = {
  save: "save_tool",
  list: "list_saved_tools",
  show: "show_saved_tool",
  delete: "delete_saved_tool",
  test: testToolName,
  evaluate: "eval_starlark",
  language: "describe_language",
} as const;

const nameParameter = {
  type: "string",
  minLength: 1,
  maxLength: 64,
  description: "Name of the saved tool, as list_saved_tools returns it",
};

const nameOnly: JsonObject = {
  type: "object",
  properties: { name: nameParameter },
  required: ["name"],
  additionalProperties: false,
};

const reachSchema: JsonObject = {
  type: "array",
  items: { type: "string" },
  description: "Ids of the tools that it can call",
};

const summarySchema: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string" },
    description: { type: "string" },
    created: { type: "string", description: "ISO 8601" },
    modified: { type: "string", description: "ISO 8601" },
    inputSchema: { type: "object" },
  },
  required: ["name", "description", "created", "modified", "inputSchema"],
};

const closedWorld = { openWorldHint: false } as const;
const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  ...closedWorld,
} as const;

/** Definitions in the order in which they are listed. */
export const coreDefinitions: readonly ToolDefinition[] = [
  {
    name: coreToolNames.save,
    title: "Save a tool",
    description: `Create or update a composite tool: a Starlark program (a small Python) that calls other tools and returns one result. It is saved and can be called by its name at once, like any other tool.

In the program:
- Each tool is a function: server.tool({"arg": value}) or server.tool(arg=value); tools["any-name"]({...}) where a name is no identifier. A call gives the tool's result as data.
- params holds the arguments, checked against inputSchema with its defaults: params.title or params["title"].
- return gives the result, at the top level too; JSON data is read as issue.title or issue["title"].
- try/except, f-strings, json, math, time, print and parallel([lambda: …]) are there; files, network, imports and classes are not.

Every error of the program is reported at once, each with its line and a hint. Call describe_language for the whole language, and try a program with eval_starlark before saving it.`,
    inputSchema: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 64,
          description: "Tool identifier: letters, digits, _ - . ; your tool of this name is updated",
        },
        description: { type: "string", description: "What the tool does, for its callers" },
        inputSchema: {
          type: "object",
          description:
            'JSON Schema of its parameters, such as {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}',
        },
        code: { type: "string", description: "The Starlark program" },
      },
      required: ["name", "description", "inputSchema", "code"],
      additionalProperties: false,
    },
    outputSchema: orError({
      name: { type: "string" },
      status: { enum: ["created", "updated"] },
      reach: reachSchema,
      dynamic: {
        type: "boolean",
        description: "Whether it chooses tools at run time, so that it can call any tool",
      },
      annotations: { type: "object" },
      labels: { type: "object" },
      egressHosts: { type: "array", items: { type: "string" } },
      needsApproval: {
        type: "boolean",
        description:
          "Its reach exceeds its approval, and it cannot be called before the operator approves it",
      },
      permissions: {
        enum: ["caller", "caller and owner"],
        description:
          "Whose permissions its program needs. Until the operator approves it, it needs those of its owner, too, and only the owner finds it",
      },
      warnings: { type: "array", items: { type: "object" } },
    }),
    annotations: {
      title: "Save a tool",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      ...closedWorld,
    },
  },
  {
    name: coreToolNames.list,
    title: "List saved tools",
    description:
      "All saved composite tools: name, description, when it was created and modified, input schema.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    outputSchema: {
      type: "object",
      properties: { tools: { type: "array", items: summarySchema } },
      required: ["tools"],
    },
    annotations: { title: "List saved tools", ...readOnly },
  },
  {
    name: coreToolNames.show,
    title: "Show a saved tool",
    description: "The complete definition of one saved tool, with its code and what it can reach.",
    inputSchema: nameOnly,
    outputSchema: orError(
      {
        version: { type: "string" },
        name: { type: "string" },
        description: { type: "string" },
        inputSchema: { type: "object" },
        code: { type: "string" },
        metadata: {
          type: "object",
          properties: {
            created: { type: "string" },
            modified: { type: "string" },
            executionCount: { type: "integer" },
            lastExecuted: { type: "string" },
          },
          required: ["created", "modified", "executionCount"],
        },
        reach: reachSchema,
        dynamic: { type: "boolean" },
        annotations: { type: "object" },
        labels: { type: "object" },
        egressHosts: { type: "array", items: { type: "string" } },
        needsApproval: { type: "boolean" },
      },
      ["version", "name", "description", "inputSchema", "code", "metadata"],
    ),
    annotations: { title: "Show a saved tool", ...readOnly },
  },
  {
    name: coreToolNames.delete,
    title: "Delete a saved tool",
    description: "Remove a saved tool. It can no longer be called; its audit records stay.",
    inputSchema: nameOnly,
    outputSchema: orError({ name: { type: "string" }, deleted: { const: true } }),
    annotations: {
      title: "Delete a saved tool",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      ...closedWorld,
    },
  },
  { ...testToolDefinition, outputSchema: withError(testToolDefinition.outputSchema) },
  {
    name: coreToolNames.evaluate,
    title: "Run a Starlark program once",
    description:
      "Run a composite program once without saving it. Use it to test a program before save_tool, or to make many calls in one step and return only the relevant data. The program is written as for save_tool.",
    inputSchema: {
      type: "object",
      properties: {
        code: { type: "string", description: "The Starlark program; return sets its result" },
        params: { type: "object", description: "The value of params in the program", default: {} },
      },
      required: ["code"],
      additionalProperties: false,
    },
    outputSchema: responseSchema,
    annotations: {
      title: "Run a Starlark program once",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  },
  {
    name: coreToolNames.language,
    title: "Describe the language",
    description:
      "How composite programs are written: the Starlark language with its differences from Python, what is built in, and the tools that you can call, as functions.",
    inputSchema: {
      type: "object",
      properties: {
        tools: {
          type: "string",
          description: 'Only tools whose name contains this, such as "github."; all when omitted',
        },
      },
      additionalProperties: false,
    },
    annotations: { title: "Describe the language", ...readOnly },
  },
];

/** A schema of answers that admits errors too. */
function withError(schema: JsonObject | undefined): JsonObject {
  const { properties, required } = schema ?? {};
  return orError((properties ?? {}) as JsonObject, (required ?? []) as string[]);
}
