/**
 * Tools that request input by returning `input_required`, as in the protocol from
 * 2026-07-28 on (SEP-2322). A tool is called once for each round: it reads the
 * answers so far and requests the rest. In a session of an older protocol, the SDK
 * sends the same questions as requests.
 *
 * A tool keeps no state between rounds: its state is in the signed `requestState`.
 */

import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
} from "@modelcontextprotocol/server";
import type { ConformanceContext, RoundState } from "./context.ts";
import { noArguments } from "./tools.ts";

type Answer = Promise<CallToolResult | InputRequiredResult>;

export function registerInputRequiredTools(server: McpServer, context: ConformanceContext): void {
  registerSingleQuestionTools(server);
  registerStatefulTools(server, context);
  registerCapabilityTools(server);
}

function registerSingleQuestionTools(server: McpServer): void {
  server.registerTool(
    "test_input_required_result_elicitation",
    { description: "Asks the user for a name", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      const name = textField(ctx.mcpReq.inputResponses, "user_name", "name");
      if (name === undefined) return inputRequired({ inputRequests: { user_name: askName() } });
      return text(`Hello, ${name}!`);
    },
  );
  server.registerTool(
    "test_input_required_result_sampling",
    { description: "Asks the client's model for a capital", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, "capital_question");
      if (answer.kind !== "sampling") {
        return inputRequired({
          inputRequests: { capital_question: askModel("What is the capital of France?", 100) },
        });
      }
      return text(`Sampling response: ${JSON.stringify(answer.result.content)}`);
    },
  );
  server.registerTool(
    "test_input_required_result_list_roots",
    { description: "Asks the client for its roots", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, "client_roots");
      if (answer.kind !== "roots") {
        return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
      }
      return text(`Roots: ${answer.roots.map((root) => root.uri).join(", ")}`);
    },
  );
}

function registerStatefulTools(server: McpServer, { codec }: ConformanceContext): void {
  server.registerTool(
    "test_input_required_result_request_state",
    { description: "Asks to confirm, and checks that its state came back", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      const state = ctx.mcpReq.requestState<RoundState>();
      if (state === undefined || acceptedContent(ctx.mcpReq.inputResponses, "confirm") === undefined) {
        const requestState = await codec.mint({ tool: "request_state" });
        return inputRequired({ inputRequests: { confirm: askConfirmation() }, requestState });
      }
      return text("state-ok");
    },
  );
  server.registerTool(
    "test_input_required_result_tampered_state",
    {
      description: "Asks to confirm; state that was changed on the way is refused",
      inputSchema: noArguments,
    },
    async (_arguments, ctx): Answer => {
      const state = ctx.mcpReq.requestState<RoundState>();
      if (state === undefined || acceptedContent(ctx.mcpReq.inputResponses, "confirm") === undefined) {
        const requestState = await codec.mint({ tool: "tampered_state" });
        return inputRequired({ inputRequests: { confirm: askConfirmation() }, requestState });
      }
      return text("the state is intact");
    },
  );
  server.registerTool(
    "test_input_required_result_multiple_inputs",
    { description: "Asks the user, the model and for roots in one round", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      const answers = ctx.mcpReq.inputResponses;
      const name = textField(answers, "user_name", "name");
      const greeting = inputResponse(answers, "greeting");
      const roots = inputResponse(answers, "client_roots");
      if (name === undefined || greeting.kind !== "sampling" || roots.kind !== "roots") {
        return inputRequired({
          inputRequests: {
            user_name: askName(),
            greeting: askModel("Generate a greeting", 50),
            client_roots: inputRequired.listRoots(),
          },
          requestState: await codec.mint({ tool: "multiple_inputs" }),
        });
      }
      return text(`${JSON.stringify(greeting.result.content)} ${name}, ${roots.roots.length} roots`);
    },
  );
  server.registerTool(
    "test_input_required_result_multi_round",
    { description: "Asks for a name, then for a color", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      const state = ctx.mcpReq.requestState<RoundState>();
      const round = state?.tool === "multi_round" ? (state.round ?? 0) : 0;
      if (round === 0) {
        const requestState = await codec.mint({ tool: "multi_round", round: 1 });
        return inputRequired({ inputRequests: { step1: askName() }, requestState });
      }
      if (round === 1) {
        const name = textField(ctx.mcpReq.inputResponses, "step1", "name") ?? "nobody";
        const requestState = await codec.mint({ tool: "multi_round", round: 2, name });
        return inputRequired({
          inputRequests: { step2: askText("What is your color?", "color") },
          requestState,
        });
      }
      const color = textField(ctx.mcpReq.inputResponses, "step2", "color") ?? "no color";
      return text(`${state?.name ?? "nobody"} likes ${color}`);
    },
  );
}

function registerCapabilityTools(server: McpServer): void {
  server.registerTool(
    "test_missing_capability",
    { description: "Needs the client's model, whatever the client declared", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      if (inputResponse(ctx.mcpReq.inputResponses, "answer").kind !== "sampling") {
        return inputRequired({ inputRequests: { answer: askModel("Reply with one word", 16) } });
      }
      return text("the model answered");
    },
  );
  server.registerTool(
    "test_input_required_result_capabilities",
    { description: "Asks only in the ways the client declared", inputSchema: noArguments },
    async (_arguments, ctx): Answer => {
      if (ctx.mcpReq.inputResponses !== undefined) return text("answered");
      // The SDK types the envelope as an empty object.
      const envelope = ctx.mcpReq.envelope as { [key: string]: ClientCapabilities | undefined } | undefined;
      // A session of an older protocol declares them once.
      const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities();
      const inputRequests: InputRequests = {
        ...(declared?.elicitation === undefined ? {} : { user_name: askName() }),
        ...(declared?.sampling === undefined ? {} : { greeting: askModel("Generate a greeting", 50) }),
        ...(declared?.roots === undefined ? {} : { client_roots: inputRequired.listRoots() }),
      };
      if (Object.keys(inputRequests).length === 0) return text("the client declared nothing to ask with");
      return inputRequired({ inputRequests });
    },
  );
}

/** The question "What is your name?", in the form of `input_required`. */
export function askName() {
  return askText("What is your name?", "name");
}

/** A question with one required text field. */
export function askText(message: string, field: string) {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] },
  });
}

/** Returns the text of `field` in the form that the user accepted under `key`, if any. */
export function textField(
  answers: Record<string, unknown> | undefined,
  key: string,
  field: string,
): string | undefined {
  const value = acceptedContent<Record<string, unknown>>(answers, key)?.[field];
  return typeof value === "string" ? value : undefined;
}

function askConfirmation() {
  return inputRequired.elicit({
    message: "Please confirm",
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  });
}

function askModel(prompt: string, maxTokens: number) {
  return inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens,
  });
}

function text(value: string): CallToolResult {
  return { content: [{ type: "text", text: value }] };
}
