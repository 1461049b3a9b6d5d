/**
 * Tools that ask the client while they run (sampling and elicitation). They return
 * their question as `input_required`; in a session of a protocol up to 2025-11-25
 * the SDK sends it as a request. If the client refuses, the tool fails.
 */

import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { noArguments } from "./tools.ts";

type Answer = CallToolResult | InputRequiredResult;
type Form = Parameters<typeof inputRequired.elicit>[0];

export function registerAskingTools(server: McpServer): void {
  server.registerTool(
    "test_sampling",
    {
      description: "Asks the client's model",
      inputSchema: fromJsonSchema<{ prompt: string }>({
        type: "object",
        properties: { prompt: { type: "string", description: "The prompt for the model" } },
        required: ["prompt"],
      }),
    },
    async ({ prompt }, ctx): Promise<Answer> => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, "answer");
      if (answer.kind !== "sampling") {
        const messages = [{ role: "user" as const, content: { type: "text" as const, text: prompt } }];
        const question = inputRequired.createMessage({ messages, maxTokens: 100 });
        return inputRequired({ inputRequests: { answer: question } });
      }
      const { content } = answer.result;
      const text =
        !Array.isArray(content) && content.type === "text" ? content.text : JSON.stringify(content);
      return { content: [{ type: "text", text: `LLM response: ${text}` }] };
    },
  );
  server.registerTool(
    "test_elicitation",
    {
      description: "Asks the user",
      inputSchema: fromJsonSchema<{ message: string }>({
        type: "object",
        properties: { message: { type: "string", description: "The message for the user" } },
        required: ["message"],
      }),
    },
    ({ message }, ctx) =>
      elicit(ctx, message, {
        type: "object",
        properties: { response: { type: "string", description: "The user's response" } },
        required: ["response"],
      }),
  );
  server.registerTool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks the user with a default for every primitive type", inputSchema: noArguments },
    (_arguments, ctx) =>
      elicit(ctx, "Please review the form and its defaults", {
        type: "object",
        properties: {
          name: { type: "string", description: "User name", default: "John Doe" },
          age: { type: "integer", description: "User age", default: 30 },
          score: { type: "number", description: "User score", default: 95.5 },
          status: {
            type: "string",
            description: "User status",
            enum: ["active", "inactive", "pending"],
            default: "active",
          },
          verified: { type: "boolean", description: "Whether the user is verified", default: true },
        },
        required: [],
      }),
  );
  server.registerTool(
    "test_elicitation_sep1330_enums",
    { description: "Asks the user with every form of enumeration", inputSchema: noArguments },
    (_arguments, ctx) =>
      elicit(ctx, "Please choose", {
        type: "object",
        properties: {
          untitledSingle: {
            type: "string",
            description: "One option",
            enum: ["option1", "option2", "option3"],
          },
          titledSingle: { type: "string", description: "One titled option", oneOf: titledOptions },
          legacyEnum: {
            type: "string",
            description: "One option with the older form of titles",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"],
          },
          untitledMulti: {
            type: "array",
            description: "Some options",
            minItems: 1,
            maxItems: 3,
            items: { type: "string", enum: ["option1", "option2", "option3"] },
          },
          titledMulti: {
            type: "array",
            description: "Some titled options",
            minItems: 1,
            maxItems: 3,
            items: { anyOf: titledOptions },
          },
        },
        required: [],
      }),
  );
}

const titledOptions = [
  { const: "value1", title: "First Option" },
  { const: "value2", title: "Second Option" },
  { const: "value3", title: "Third Option" },
];

function elicit(ctx: ServerContext, message: string, requestedSchema: Record<string, unknown>): Answer {
  const answer = inputResponse(ctx.mcpReq.inputResponses, "form");
  if (answer.kind !== "elicit") {
    return inputRequired({
      inputRequests: { form: inputRequired.elicit({ message, requestedSchema } as Form) },
    });
  }
  const text = `User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
  return { content: [{ type: "text", text }] };
}
