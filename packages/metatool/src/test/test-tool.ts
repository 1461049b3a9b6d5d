/** `test_saved_tool` as clients see it. Data only. */

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
  description: `Run the test cases of a saved tool. In a test every tool that the program calls answers from the case, so nothing is touched, however often it runs.

- record: run the tool for real with params, once, and keep what happened as a new case.
- cases: cases to add; one with the name of a case that is there replaces it.

A dry run of a saved tool (its argument dry_run: true) is answered from the recorded cases too.`,
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 64, description: "Name of the saved tool" },
      record: { type: "boolean", default: false, description: "Make a case of a real run" },
      params: { type: "object", default: {}, description: "Parameters of the run that is recorded" },
      caseName: { type: "string", maxLength: 100, description: "What to call the case that is recorded" },
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
      recorded: { type: "string", description: "Name of the case that was recorded" },
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
