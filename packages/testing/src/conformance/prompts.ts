/** Prompts of the conformance server, and completion of their arguments. */

import {
  fromJsonSchema,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { askText, textField } from "./input-required-tools.ts";
import { redPixelPng } from "./samples.ts";

export function registerPrompts(server: McpServer): void {
  server.registerPrompt("test_simple_prompt", { description: "A prompt without arguments" }, () =>
    userText("This is a simple prompt for testing."),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt with two arguments",
      argsSchema: fromJsonSchema<{ arg1: string; arg2: string }>({
        type: "object",
        properties: {
          arg1: { type: "string", description: "First test argument" },
          arg2: { type: "string", description: "Second test argument" },
        },
        required: ["arg1", "arg2"],
      }),
    },
    ({ arg1, arg2 }) => userText(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    {
      description: "A prompt that carries a resource",
      argsSchema: fromJsonSchema<{ resourceUri: string }>({
        type: "object",
        properties: { resourceUri: { type: "string", description: "URI of the resource to embed" } },
        required: ["resourceUri"],
      }),
    },
    ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: {
              uri: resourceUri,
              mimeType: "text/plain",
              text: "Embedded resource content for testing.",
            },
          },
        },
        { role: "user", content: { type: "text", text: "Please process the embedded resource above." } },
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "A prompt that carries an image" }, () => ({
    messages: [
      { role: "user", content: { type: "image", data: redPixelPng, mimeType: "image/png" } },
      { role: "user", content: { type: "text", text: "Please analyze the image above." } },
    ],
  }));
  registerAskingPrompt(server);
  registerCompletion(server);
}

function registerAskingPrompt(server: McpServer): void {
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "A prompt that asks the user before it is rendered" },
    // Without an argument schema the context is the only argument; the SDK types it as unknown.
    (given) => {
      const { inputResponses } = (given as ServerContext).mcpReq;
      const context = textField(inputResponses, "user_context", "context");
      if (context !== undefined) return userText(`Use the following context: ${context}`);
      return inputRequired({
        inputRequests: { user_context: askText("What context should the prompt use?", "context") },
      });
    },
  );
}

const knownValues = ["paris", "park", "party", "test", "testing"];

function registerCompletion(server: McpServer): void {
  server.server.setRequestHandler("completion/complete", ({ params }) => {
    const values = knownValues.filter((value) => value.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}

function userText(text: string) {
  return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
}
