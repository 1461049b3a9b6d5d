/** The definition of `test_saved_tool` for clients. Data only. */

import type { JsonObject } from "@toolcrib/json";
import type { ToolDefinition } from "@toolcrib/tool";

/** The wire name of the core tool. */
export const testToolName = "test_saved_tool";

const caseSchema: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string" },
    params: { type: "object" },
    replies: {
      type: "array",
      items: {
        type: "object",
        properties: {
          tool: { type: "string", description: "server.tool, as the program calls it" },
          params: { type: "object", description: "Answer only a call with exactly these" },
          result: { description: "What the program gets" },
          error: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
        },
        required: ["tool"],
      },
    },
    expect: {
      type: "object",
      description: '{"result": …} or {"error": {"type": "tool_error"}}',
    },
  },
  required: ["name", "params", "replies", "expect"],
};

/** The definition of `test_saved_tool`. */
export const testToolDefinition: ToolDefinition = {
  name: testToolName,
  title: "Test a saved tool",
  description: `Run the test cases of a saved tool. In a test, inner calls get the replies of the case and reach no tool, so a test has no side effects.

- record: run the tool once with params, with real calls, and record the run as a new case.
- cases: cases to add. A case replaces an existing one of the same name.

A dry run of a saved tool (its argument dry_run: true) also uses the replies of the recorded cases.`,
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 64, description: "Name of the saved tool" },
      record: { type: "boolean", default: false, description: "Record a case from a real run" },
      params: { type: "object", default: {}, description: "Parameters of the recorded run" },
      caseName: { type: "string", maxLength: 100, description: "Name of the recorded case" },
      cases: { type: "array", items: caseSchema, maxItems: 100, description: "Cases to add before testing" },
    },
    required: ["name"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      name: { type: "string" },
      passed: { type: "integer" },
      failed: { type: "integer" },
      recorded: { type: "string", description: "Name of the recorded case" },
      recordedError: {
        type: "object",
        description: "The recorded run failed like this, and the case expects it",
      },
      cases: {
        type: "array",
        items: {
          type: "object",
          properties: {
            name: { type: "string" },
            passed: { type: "boolean" },
            problems: { type: "array", items: { type: "string" } },
          },
          required: ["name", "passed", "problems"],
        },
      },
    },
    required: ["name", "passed", "failed", "cases"],
  },
  annotations: {
    title: "Test a saved tool",
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
};
