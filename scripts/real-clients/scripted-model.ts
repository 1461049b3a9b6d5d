/**
 * A model on loopback, for clients that only use their servers for one: it asks for one call of the tool whose name ends
 * with the given one, and after its result for nothing more. It speaks the streaming APIs of Anthropic, of Google and
 * both of OpenAI, as far as the clients use them. It keeps what it was sent, so that a test sees which tools a client
 * offers and what it got from them.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A running model. */
export interface ScriptedModel extends AsyncDisposable {
  /** Without a path. */
  readonly url: string;
  /** Forgets the earlier requests. */
  clear(): void;
  /** Names of the tools in the requests since then. */
  tools(): ReadonlySet<string>;
  /** Whether one of them had the result of a call. */
  gotResult(): boolean;
}

/** A tool of a request: its name, and the group that some clients name apart from it. */
interface OfferedTool {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** An answer of the model: the call of a tool, or a text. */
type Answer = { readonly tool: OfferedTool } | { readonly text: string };

/** The answer of an API as the events of its stream. */
type ToEvents = (
  answer: Answer,
  args: object,
) => readonly { readonly event?: string; readonly data: object }[];

/**
 * Starts a model.
 *
 * @param wanted the end of the name of the tool that it calls
 * @param args the arguments of the call
 */
export async function startScriptedModel(wanted: string, args: object): Promise<ScriptedModel> {
  let names = new Set<string>();
  let hasResult = false;
  const answerTo = (body: string): Answer => {
    const tools = toolsIn(JSON.parse(body));
    for (const { name } of tools) names.add(name);
    const tool = tools.find(({ name }) => name.endsWith(wanted));
    const isAnswered = /"(?:tool_result|function_call_output|functionResponse)"|"role":\s*"tool"/.test(body);
    hasResult ||= isAnswered;
    return tool === undefined || isAnswered ? { text: "Done." } : { tool };
  };
  const server = createServer((request, response) => {
    void respond(request).then(
      ({ type, content }) => response.writeHead(200, { "content-type": type }).end(content),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  const respond = async (request: IncomingMessage): Promise<{ type: string; content: string }> => {
    const body = await text(request);
    const { pathname } = new URL(request.url ?? "/", "http://model");
    const toEvents = apis.find(({ path }) => path.test(pathname))?.toEvents;
    if (toEvents === undefined || request.method !== "POST")
      return { type: "application/json", content: JSON.stringify({ object: "list", data: [] }) };
    const events = toEvents(answerTo(body), args).map(
      ({ event, data }) =>
        `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`,
    );
    const end = pathname.endsWith("/chat/completions") ? "data: [DONE]\n\n" : "";
    return { type: "text/event-stream", content: events.join("") + end };
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clear: () => {
      names = new Set();
      hasResult = false;
    },
    tools: () => names,
    gotResult: () => hasResult,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Finds the tools of a request, in the notation of each API. */
function toolsIn(body: { readonly tools?: readonly unknown[] }): readonly OfferedTool[] {
  const found: OfferedTool[] = [];
  const visit = (value: unknown, namespace: string | undefined): void => {
    if (typeof value !== "object" || value === null) return;
    const tool = value as {
      readonly type?: string;
      readonly name?: string;
      readonly function?: unknown;
      readonly functionDeclarations?: readonly unknown[];
      readonly tools?: readonly unknown[];
    };
    const inner = [tool.function, ...(tool.functionDeclarations ?? [])];
    for (const one of inner) visit(one, namespace);
    for (const one of tool.tools ?? []) visit(one, tool.name);
    if (tool.name !== undefined && tool.tools === undefined) found.push({ name: tool.name, namespace });
  };
  for (const tool of body.tools ?? []) visit(tool, undefined);
  return found;
}

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

const anthropic: ToEvents = (answer, args) => {
  const isCall = "tool" in answer;
  const block = isCall
    ? { type: "tool_use", id: "toolu_1", name: answer.tool.name, input: {} }
    : { type: "text", text: "" };
  const delta = isCall
    ? { type: "input_json_delta", partial_json: JSON.stringify(args) }
    : { type: "text_delta", text: answer.text };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "scripted", content: [] };
  const stop = { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null };
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage },
    { type: "message_stop" },
  ].map((data) => ({ event: data.type, data }));
};

const google: ToEvents = (answer, args) => {
  const part = "tool" in answer ? { functionCall: { name: answer.tool.name, args } } : { text: answer.text };
  const candidate = { index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [{ data: { candidates: [candidate], usageMetadata, modelVersion: "scripted" } }];
};

const responses: ToEvents = (answer, args) => {
  const item =
    "tool" in answer
      ? {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: answer.tool.name,
          ...(answer.tool.namespace === undefined ? {} : { namespace: answer.tool.namespace }),
          arguments: JSON.stringify(args),
        }
      : {
          type: "message",
          id: "msg_1",
          role: "assistant",
          content: [{ type: "output_text", text: answer.text, annotations: [] }],
        };
  const response = { id: "resp_1", object: "response", model: "scripted", output: [] };
  return [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ].map((data) => ({ event: data.type, data }));
};

const chat: ToEvents = (answer, args) => {
  const delta =
    "tool" in answer
      ? {
          role: "assistant",
          tool_calls: [
            {
              index: 0,
              id: "call_1",
              type: "function",
              function: { name: answer.tool.name, arguments: JSON.stringify(args) },
            },
          ],
        }
      : { role: "assistant", content: answer.text };
  const chunk = { id: "chat_1", object: "chat.completion.chunk", created: 1, model: "scripted" };
  const reason = "tool" in answer ? "tool_calls" : "stop";
  return [
    { data: { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] } },
    { data: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }] } },
  ];
};

const apis: readonly { readonly path: RegExp; readonly toEvents: ToEvents }[] = [
  { path: /\/messages$/, toEvents: anthropic },
  { path: /:streamGenerateContent$/, toEvents: google },
  { path: /\/responses$/, toEvents: responses },
  { path: /\/chat\/completions$/, toEvents: chat },
];
