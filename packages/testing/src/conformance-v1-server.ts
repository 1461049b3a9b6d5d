/**
 * The server of the required scenarios of 2025-11-25 on the first generation of the
 * official SDK, which most servers are built with. It differs from the one on the
 * second generation in what matters to a gateway: it sends its questions itself while
 * a call runs, and it validates messages with other schemas.
 *
 * It has no transport: the caller connects it.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  type GetPromptResult,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { defaultsForm, enumsForm, responseForm } from "./conformance/forms.ts";
import { redPixelPng, silentWav } from "./conformance/samples.ts";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Arguments = { readonly [name: string]: unknown };

interface V1Tool {
  readonly description: string;
  readonly properties?: { readonly [name: string]: object };
  readonly call: (args: Arguments, extra: Extra) => Promise<CallToolResult> | CallToolResult;
}

/** Milliseconds between two notifications; enough for a stream to send them separately. */
const pauseMs = 50;

/** Creates one server instance, for one session. */
export function createConformanceV1Server(): Server {
  const server = new Server(
    { name: "toolcrib-conformance-v1", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, properties = {} }]) => ({
      name,
      description,
      inputSchema: { type: "object" as const, properties, required: Object.keys(properties) },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = tools[params.name];
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    return tool.call(params.arguments ?? {}, extra);
  });
  registerResources(server);
  registerPrompts(server);
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => {
    const values = ["paris", "park", "party"].filter((value) => value.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  return server;
}

const tools: { readonly [name: string]: V1Tool } = {
  test_simple_text: {
    description: "Answers with one text",
    call: () => textOf("This is a simple text response for testing."),
  },
  test_image_content: {
    description: "Answers with one image",
    call: () => ({ content: [{ type: "image", data: redPixelPng, mimeType: "image/png" }] }),
  },
  test_audio_content: {
    description: "Answers with one sound",
    call: () => ({ content: [{ type: "audio", data: silentWav, mimeType: "audio/wav" }] }),
  },
  test_embedded_resource: {
    description: "Answers with one resource",
    call: () => ({ content: [resourceBlock("test://embedded-resource")] }),
  },
  test_multiple_content_types: {
    description: "Answers with three kinds",
    call: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: redPixelPng, mimeType: "image/png" },
        resourceBlock("test://mixed-content-resource"),
      ],
    }),
  },
  test_error_handling: {
    description: "Fails on purpose",
    call: () => ({
      isError: true,
      content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
    }),
  },
  test_tool_with_logging: {
    description: "Sends three log messages",
    async call(_args, extra) {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await extra.sendNotification({ method: "notifications/message", params: { level: "info", data } });
        await sleep(pauseMs);
      }
      return textOf("Tool with logging executed successfully");
    },
  },
  test_tool_with_progress: {
    description: "Reports progress 0, 50 and 100",
    async call(_args, { _meta, sendNotification }) {
      const progressToken = _meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        const params = { progressToken: progressToken ?? 0, progress, total: 100 };
        await sendNotification({ method: "notifications/progress", params });
        await sleep(pauseMs);
      }
      return textOf(String(progressToken));
    },
  },
  test_sampling: {
    description: "Asks the client's model",
    properties: { prompt: { type: "string" } },
    async call({ prompt }, extra) {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: String(prompt) } }];
      const { content } = await extra.sendRequest(
        { method: "sampling/createMessage", params: { messages, maxTokens: 100 } },
        CreateMessageResultSchema,
      );
      return textOf(`LLM response: ${content.type === "text" ? content.text : JSON.stringify(content)}`);
    },
  },
  test_elicitation: {
    description: "Asks the user",
    properties: { message: { type: "string" } },
    call: ({ message }, extra) => elicit(extra, String(message), responseForm),
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks the user with a default for every primitive type",
    call: (_args, extra) => elicit(extra, "Please review the form and its defaults", defaultsForm),
  },
  test_elicitation_sep1330_enums: {
    description: "Asks the user with every form of enumeration",
    call: (_args, extra) => elicit(extra, "Please choose", enumsForm),
  },
};

async function elicit(extra: Extra, message: string, requestedSchema: object): Promise<CallToolResult> {
  const request = { method: "elicitation/create", params: { message, requestedSchema } } as ServerRequest;
  const answer = await extra.sendRequest(request, ElicitResultSchema);
  return textOf(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}

const listed = ["static-text", "static-binary", "watched-resource"];

function registerResources(server: Server): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: listed.map((name) => ({ uri: `test://${name}`, name, description: name })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      { uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    if (uri === "test://static-binary")
      return { contents: [{ uri, mimeType: "image/png", blob: redPixelPng }] };
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id !== undefined) {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    }
    if (!listed.includes(uri.replace("test://", "")))
      throw new McpError(-32002, "Resource not found", { uri });
    const text = "This is the content of the static text resource.";
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
}

const prompts: { readonly [name: string]: (args: { readonly [name: string]: string }) => GetPromptResult } = {
  test_simple_prompt: () => userSays({ type: "text", text: "This is a simple prompt for testing." }),
  test_prompt_with_arguments: ({ arg1, arg2 }) =>
    userSays({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  test_prompt_with_embedded_resource: ({ resourceUri = "" }) =>
    userSays(resourceBlock(resourceUri), {
      type: "text",
      text: "Please process the embedded resource above.",
    }),
  test_prompt_with_image: () =>
    userSays(
      { type: "image", data: redPixelPng, mimeType: "image/png" },
      { type: "text", text: "Please analyze the image above." },
    ),
};

const promptArguments: { readonly [name: string]: readonly string[] } = {
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
};

function registerPrompts(server: Server): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.keys(prompts).map((name) => ({
      name,
      description: name,
      arguments: (promptArguments[name] ?? []).map((one) => ({
        name: one,
        description: one,
        required: true,
      })),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = prompts[params.name];
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown prompt: ${params.name}`);
    return prompt(params.arguments ?? {});
  });
}

type Content = GetPromptResult["messages"][number]["content"];

function userSays(...blocks: readonly Content[]): GetPromptResult {
  return { messages: blocks.map((content) => ({ role: "user" as const, content })) };
}

function resourceBlock(uri: string) {
  const text = "This is an embedded resource content.";
  return { type: "resource" as const, resource: { uri, mimeType: "text/plain", text } };
}

function textOf(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}
