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
import { defaultsForm, enumsForm, responseForm } from "./forms.ts";
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
    ({ message }, ctx) => elicit(ctx, message, responseForm),
  );
  server.registerTool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks the user with a default for every primitive type", inputSchema: noArguments },
    (_arguments, ctx) => elicit(ctx, "Please review the form and its defaults", defaultsForm),
  );
  server.registerTool(
    "test_elicitation_sep1330_enums",
    { description: "Asks the user with every form of enumeration", inputSchema: noArguments },
    (_arguments, ctx) => elicit(ctx, "Please choose", enumsForm),
  );
}

function elicit(ctx: ServerContext, message: string, requestedSchema: object): Answer {
  const answer = inputResponse(ctx.mcpReq.inputResponses, "form");
  if (answer.kind !== "elicit") {
    return inputRequired({
      inputRequests: { form: inputRequired.elicit({ message, requestedSchema } as Form) },
    });
  }
  const text = `User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
  return { content: [{ type: "text", text }] };
}
