/**
 * One call of an echo tool, with everything that a tool can do in addition to
 * returning a result. Sends requests and log messages in the form of both eras.
 */

import type { EchoConnection, Outlet } from "./echo-connection.ts";
import type { EchoServer } from "./echo-server.ts";
import type { EchoCall } from "./echo-tool.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonRpcId,
  notificationOf,
  RpcFailure,
  resultOf,
} from "./json-rpc.ts";
import { metaKeys } from "./modern-era.ts";

/** Thrown by a call that needs input: its result is the question, and the client calls again with the answer. */
export class InputRequired extends Error {
  readonly result: JsonObject;

  constructor(result: JsonObject) {
    super("input required");
    this.name = "InputRequired";
    this.result = result;
  }
}

const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** The capability that a client must declare for each request. */
const capabilityOf: { readonly [method: string]: string } = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots",
};

export class EchoToolCall implements EchoCall {
  readonly server: EchoServer;
  readonly id: JsonRpcId;
  readonly params: JsonObject;
  readonly #connection: EchoConnection;
  readonly #outlet: Outlet;
  readonly #isModern: boolean;

  constructor(
    server: EchoServer,
    connection: EchoConnection,
    outlet: Outlet,
    id: JsonRpcId,
    params: JsonObject,
    isModern: boolean,
  ) {
    this.server = server;
    this.#connection = connection;
    this.#outlet = outlet;
    this.id = id;
    this.params = params;
    this.#isModern = isModern;
  }

  get headers(): EchoCall["headers"] {
    return this.#outlet.headers;
  }

  get signal(): AbortSignal {
    return this.#connection.signalOf(this.id);
  }

  progress(progress: number, total: number, message: string): void {
    const { progressToken } = this.#meta;
    if (progressToken === undefined) return;
    this.#outlet.send(
      notificationOf("notifications/progress", { progressToken, progress, total, message }),
      this.id,
    );
  }

  log(level: string, data: unknown): void {
    // From 2026-07-28 on, a request without a level gets no log messages.
    const wanted = this.#isModern ? this.#meta[metaKeys.logLevel] : this.#connection.logLevel;
    if (typeof wanted !== "string" || levels.indexOf(level) < levels.indexOf(wanted)) return;
    this.#outlet.send(notificationOf("notifications/message", { level, logger: "echo", data }), this.id);
  }

  async ask(method: string, params: JsonObject): Promise<JsonObject> {
    if (!this.#isModern) return this.#connection.ask(method, params, this.id);
    const requestState = `echo:${stringOrEmpty(this.params["name"])}`;
    const answers = this.params["inputResponses"];
    const answer = isJsonObject(answers) ? answers["answer"] : undefined;
    if (isJsonObject(answer)) {
      if (this.params["requestState"] !== requestState)
        throw new RpcFailure(-32602, "requestState came back changed");
      return answer;
    }
    const capability = capabilityOf[method] ?? method;
    const declared = this.#meta[metaKeys.clientCapabilities];
    if (!isJsonObject(declared) || declared[capability] === undefined) {
      const data = { requiredCapabilities: { [capability]: {} } };
      throw new RpcFailure(-32021, `Missing client capability: ${capability}`, data);
    }
    throw new InputRequired({
      resultType: "input_required",
      inputRequests: { answer: { method, params } },
      requestState,
    });
  }

  respond(id: JsonRpcId, result: JsonObject): void {
    this.#outlet.send(resultOf(id, result), this.id);
  }

  writeText(text: string): void {
    this.#outlet.writeText(text, this.id);
  }

  breakOff(): void {
    this.#outlet.breakOff(this.id);
  }

  expireSession(): void {
    this.#outlet.expireSession();
  }

  get #meta(): JsonObject {
    const meta = this.params["_meta"];
    return isJsonObject(meta) ? meta : {};
  }
}

function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
