/**
 * Questions of a modern server (2026-07-28): a result of the type `input_required` holds requests to the client, which
 * answers them by repeating the call. They are checked here, passed on as a result to a client that takes them so, and
 * otherwise sent to the client as requests.
 *
 * The state that the client gets with the questions names the server, and holds what the server sent or the call that
 * waits in this process. Only the gateway reads it: it seals it before a client sees it.
 */

import { setTimeout as delay } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { rpcCodes } from "@toolcrib/mcp";
import type { CallContext } from "@toolcrib/tool";
import { receivedParams, type Sender } from "./received.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Requests that a server can send to a client, with the capability that each needs. */
export const capabilityFor: { readonly [method: string]: string } = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots",
};

/** Capabilities for which a server can ask a client. */
export const askable: readonly string[] = ["sampling", "elicitation", "roots"];

/** Capabilities of clients that the gateway passes on besides those for which a server asks. */
const otherCapabilities = ["extensions", "experimental"];
/** An extension in which the gateway is the client of the server, and the server of the client. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** Methods whose result can be questions. */
export const askingMethods: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Questions of one result. @limit server */
const maxQuestions = 100;
/** Longest state of a server, in UTF-16 units. @limit server */
const stateMaxLength = 256 * 1024;
/** Rounds of questions within one call. @limit server */
const maxRounds = 20;
/** Pause before a call is repeated that asks nothing, in milliseconds. */
const emptyRoundPauseMs = 100;

/** State that a server returned, or the call of this process that waits for answers. */
export interface RoundState {
  readonly server: string;
  /** The state of a modern server, if it sent one. */
  readonly state?: string | undefined;
  /** Id of the call that waits here. */
  readonly parked?: string | undefined;
  /** Whether the question was the gateway's own, for a login. */
  readonly isLogin?: boolean | undefined;
}

export function writeState(state: RoundState): string {
  return JSON.stringify(state);
}

/** @throws {UpstreamError} `UPSTREAM_QUESTION_OVER` when the state belongs to another server */
export function readState(text: string | undefined, server: string): RoundState | undefined {
  if (text === undefined) return undefined;
  const state = JSON.parse(text) as RoundState;
  if (state.server === server) return state;
  throw questionOver(server, `it was asked by the server "${state.server}"`);
}

/** Creates the error for answers to a question that is not open any more. */
export function questionOver(server: string, reason: string): UpstreamError {
  return new UpstreamError("UPSTREAM_QUESTION_OVER", `The question cannot be answered: ${reason}`, {
    hint: "call again without requestState and inputResponses",
    data: { server, rpcCode: rpcCodes.invalidParams },
  });
}

/** Whether a person or a program at the client can get questions of this call. */
function canBeAsked(context: CallContext): boolean {
  const { rounds, session, task } = context;
  return rounds !== undefined || session !== undefined || task !== undefined || isAskedForInner(context);
}

/** Whether a call is made within one of a client without a session: its questions become the result of that call. */
export function isAskedForInner(context: CallContext): boolean {
  return context.session === undefined && context.depth > 0 && declaresAskable(context);
}

/** Returns the capabilities of the client of a call that the server of a modern request learns. */
export function requestCapabilities(context: CallContext, isInteractive: boolean): JsonObject {
  const given = context.clientCapabilities ?? context.session?.capabilities;
  if (given === undefined) return {};
  const passed: { [name: string]: JsonObject[string] } = {};
  for (const [name, value] of Object.entries(given)) {
    const isAskable = askable.includes(name);
    if (isAskable ? isInteractive && canBeAsked(context) : otherCapabilities.includes(name))
      passed[name] = value;
  }
  const { extensions } = passed;
  if (context.task !== undefined) {
    passed["extensions"] = { ...(isJsonObject(extensions) ? extensions : undefined), [tasksExtension]: {} };
  } else if (isJsonObject(extensions) && extensions[tasksExtension] !== undefined) {
    const { [tasksExtension]: _tasks, ...rest } = extensions;
    passed["extensions"] = rest;
  }
  return passed;
}

/** Whether the client of a call declared one of the capabilities for which servers ask. */
export function declaresAskable(context: CallContext): boolean {
  const given = context.clientCapabilities;
  return given !== undefined && askable.some((name) => given[name] !== undefined);
}

/** Whether a client with `capabilities` can answer a request. A page to visit needs more than a form. */
export function canAnswer(capabilities: JsonObject, method: string, params: JsonObject): boolean {
  const capability = capabilities[capabilityFor[method] ?? method];
  if (!isJsonObject(capability)) return false;
  if (method !== "elicitation/create") return true;
  const isUrl = params["mode"] === "url";
  // `elicitation: {}` stands for forms (2025-11-25 and 2026-07-28, elicitation).
  return isUrl
    ? capability["url"] !== undefined
    : capability["form"] !== undefined || capability["url"] === undefined;
}

/** Marks questions, which no answer of a server can be confused with. */
const questionsKind = Symbol("questions");

/** One question of a server. */
export interface Question {
  readonly method: string;
  readonly params: JsonObject;
}

/** The questions of a result, by the key that the server gave each. */
export interface Questions {
  readonly kind: typeof questionsKind;
  readonly requests: { readonly [key: string]: Question };
  /** The state that the server gets back with the answers. */
  readonly state: string | undefined;
}

/**
 * Returns the questions of a result, as clients may see them.
 *
 * @throws {UpstreamError} `UPSTREAM_RESULT_INVALID` when it is malformed, `UPSTREAM_CAPABILITY_MISSING` when the client did
 *   not declare that it can answer.
 */
export function receivedQuestions(result: JsonObject, sender: Sender, capabilities: JsonObject): Questions {
  const { server } = sender;
  const invalid = (reason: string) =>
    new UpstreamError(
      "UPSTREAM_RESULT_INVALID",
      `The server "${server}" asked an invalid question: ${reason}`,
      {
        hint: "report it to the maintainers of the server",
        data: { server },
      },
    );
  const { inputRequests = {}, requestState: state } = result;
  if (!isJsonObject(inputRequests)) throw invalid("inputRequests is not an object");
  if (state !== undefined && typeof state !== "string") throw invalid("requestState is not a string");
  if (state !== undefined && state.length > stateMaxLength)
    throw invalid(`requestState is longer than ${stateMaxLength} characters`);
  const entries = Object.entries(inputRequests);
  if (entries.length === 0 && state === undefined)
    throw invalid("it has neither inputRequests nor requestState");
  if (entries.length > maxQuestions) throw invalid(`it has more than ${maxQuestions} inputRequests`);
  const requests = entries.map(([key, request]) => {
    const method = isJsonObject(request) ? request["method"] : undefined;
    const params = isJsonObject(request) ? (request["params"] ?? {}) : undefined;
    if (typeof method !== "string" || !isJsonObject(params))
      throw invalid(`inputRequests.${key} is no request`);
    if (capabilityFor[method] === undefined) throw invalid(`inputRequests.${key} has an unknown method`);
    if (!canAnswer(capabilities, method, params)) throw missingCapability(server, method, params);
    return [key, { method, params: receivedParams(method, params, sender) }] as const;
  });
  return { kind: questionsKind, requests: Object.fromEntries(requests), state };
}

/** Creates the error for a question that the client of the call cannot answer (2026-07-28, -32021). */
export function missingCapability(server: string, method: string, params: JsonObject): UpstreamError {
  const name = capabilityFor[method] ?? method;
  const isUrl = params["mode"] === "url";
  const rpcData = { requiredCapabilities: { [name]: isUrl ? { url: {} } : {} } };
  return new UpstreamError(
    "UPSTREAM_CAPABILITY_MISSING",
    `The client that made this call does not support ${name}${isUrl ? " with a page to visit (url)" : ""}, which the server "${server}" needs`,
    {
      hint: `use a client that declares the capability "${name}"`,
      data: { server, rpcCode: rpcCodes.missingClientCapability, rpcData },
    },
  );
}

/** Returns questions as the result of a call. @param state what the client sends back with its answers */
export function questionResult(requests: Questions["requests"], state: RoundState): JsonObject {
  return {
    resultType: "input_required",
    ...(Object.keys(requests).length === 0 ? {} : { inputRequests: requests as unknown as JsonObject }),
    requestState: writeState(state),
  };
}

/** Returns parameters with the answers and the state of a round. */
export function withAnswers(
  params: JsonObject,
  responses: JsonObject | undefined,
  state: string | undefined,
): JsonObject {
  return {
    ...params,
    ...(responses === undefined ? {} : { inputResponses: responses }),
    ...(state === undefined ? {} : { requestState: state }),
  };
}

/**
 * Asks the client the questions of a server as requests, and repeats the call with the answers until it has a result.
 *
 * @param repeat sends the call with other parameters.
 * @throws {UpstreamError} `UPSTREAM_QUESTIONS_ENDLESS`; what the client answers with.
 */
export async function answeredByRequests(
  first: Questions,
  params: JsonObject,
  context: CallContext,
  {
    server,
    repeat,
  }: {
    readonly server: string;
    readonly repeat: (params: JsonObject) => Promise<JsonObject | Questions>;
  },
): Promise<JsonObject> {
  let { requests, state } = first;
  for (let round = 1; round <= maxRounds; round += 1) {
    const entries = Object.entries(requests);
    if (entries.length === 0) await delay(emptyRoundPauseMs, undefined, { signal: context.signal });
    const answers = await Promise.all(
      entries.map(async ([key, question]) => [
        key,
        await ask(question, `${context.callId}-${round}-${key}`, context),
      ]),
    );
    const responses = entries.length === 0 ? undefined : (Object.fromEntries(answers) as JsonObject);
    const next = await repeat(withAnswers(params, responses, state));
    if (!isQuestions(next)) return next;
    ({ requests, state } = next);
  }
  throw new UpstreamError(
    "UPSTREAM_QUESTIONS_ENDLESS",
    `The server "${server}" asked in more than ${maxRounds} rounds within one call`,
    { hint: "report it to the maintainers of the server", data: { server } },
  );
}

/** Whether an answer is questions, as `receivedQuestions` returns them. */
export function isQuestions(answer: JsonObject | Questions): answer is Questions {
  return (answer as Partial<Questions>).kind === questionsKind;
}

/** Older clients need an id with each page to visit. */
function ask({ method, params }: Question, id: string, context: CallContext): Promise<JsonObject> {
  const isPage = params["mode"] === "url" && params["elicitationId"] === undefined;
  return context.ask(method, isPage ? { ...params, elicitationId: id } : params, context.signal);
}
