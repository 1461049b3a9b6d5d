/**
 * Tools of the running gateway. Calls and searches use MCP over the control
 * socket, with the identity of the command line (`cli`), so that policy and audit
 * treat the command the same as without a gateway. The list comes from the JSON API, which shows every tool in every `serve.mode`.
 */

import { CodedError, isCodedError } from "@toolcrib/diagnostics";
import type { ToolHit, ToolSummary } from "@toolcrib/gateway";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import {
  type Connection,
  type ConnectionRequestOptions,
  createHttpClient,
  type HttpClient,
  HttpTransport,
  McpError,
  openConnection,
  withoutHint,
} from "@toolcrib/mcp";
import type { Health, ToolResult } from "@toolcrib/tool";
import { CliError } from "../cli-error.ts";
import { reasonOrStep } from "../serve/starting-text.ts";
import { version } from "../version.ts";
import {
  controlOrigin,
  controlPathOf,
  type GatewayAddress,
  getFromGateway,
  listTimeoutMs,
} from "./gateway-api.ts";
import { isUnavailableTool, type ServerState, type ToolAccess, type ToolDescription } from "./tool-access.ts";

/** Time limit of the MCP handshake, in milliseconds. */
const handshakeTimeoutMs = 10_000;

/**
 * Connects to the gateway at `address`.
 *
 * @throws {CodedError} when it cannot be reached.
 */
export async function openRemoteTools(address: GatewayAddress, signal: AbortSignal): Promise<ToolAccess> {
  const httpClient = createHttpClient({ maxConnectionsPerOrigin: 4, socketPath: controlPathOf(address) });
  const transport = new HttpTransport(httpClient, { url: `${controlOrigin}/mcp` });
  let connection: Connection;
  try {
    connection = await openConnection(
      transport,
      {},
      { clientInfo: { name: "toolcrib-cli", version }, handshakeTimeoutMs, signal },
    );
  } catch (error) {
    await httpClient.destroy();
    signal.throwIfAborted();
    throw isCodedError(error)
      ? new CodedError(error.code, `The gateway at ${address.url} cannot be used: ${error.message}`, {
          cause: error,
          hint: "see toolcrib doctor, or use the configuration without it: --config FILE",
        })
      : error;
  }
  return new RemoteTools(address, signal, { httpClient, connection });
}

/** The open connection to a gateway. */
interface OpenConnection {
  readonly httpClient: HttpClient;
  readonly connection: Connection;
}

class RemoteTools implements ToolAccess {
  readonly gatewayUrl: string;
  readonly #address: GatewayAddress;
  readonly #signal: AbortSignal;
  readonly #open: OpenConnection;
  /** All tools; listed once. */
  #listed: Promise<readonly ToolSummary[]> | undefined;

  constructor(address: GatewayAddress, signal: AbortSignal, open: OpenConnection) {
    this.gatewayUrl = address.url;
    this.#address = address;
    this.#signal = signal;
    this.#open = open;
  }

  async list(): Promise<readonly ToolSummary[]> {
    return (await this.#listAll()).filter(({ isOwn }) => !isOwn);
  }

  async search(query: string, limit: number): Promise<readonly ToolHit[]> {
    const result = await this.#callOwnTool("search_tools", { query, limit });
    const ids = new Map((await this.#listAll()).map((tool) => [tool.wireName, tool.id]));
    return hitsOf(result).map((hit) => ({ ...hit, id: ids.get(hit.name) ?? hit.name }));
  }

  async explainSearch(query: string, limit: number): Promise<readonly ToolHit[]> {
    const path = `/api/v1/search?${new URLSearchParams({ query, limit: String(limit) })}`;
    const answer = await getFromGateway(this.#address, path, this.#signal, listTimeoutMs);
    if (!Array.isArray(answer)) throw unexpected("/api/v1/search");
    return answer as unknown as readonly ToolHit[];
  }

  async describe(name: string): Promise<ToolDescription | undefined> {
    const summary = (await this.#listAll()).find((tool) => tool.id === name || tool.wireName === name);
    if (summary === undefined) return undefined;
    const result = await this.#callOwnTool("describe_tool", { name: summary.wireName });
    return toDescription(summary, result);
  }

  async explain(name: string): Promise<Error | undefined> {
    // The gateway explains the names of tools that it does not offer.
    const [error] = await Promise.allSettled([this.#callOwnTool("describe_tool", { name })]);
    return error.status === "rejected" && isUnavailableTool(error.reason) ? error.reason : undefined;
  }

  call(name: string, args: JsonObject, options: ConnectionRequestOptions): Promise<ToolResult> {
    return callTool(this.#open.connection, name, args, options);
  }

  servers(): Promise<readonly ServerState[]> {
    return listServers(this.#address, this.#signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.connection[Symbol.asyncDispose]();
    await this.#open.httpClient.destroy();
  }

  #listAll(): Promise<readonly ToolSummary[]> {
    this.#listed ??= listTools(this.#address, this.#signal);
    return this.#listed;
  }

  #callOwnTool(name: string, args: JsonObject): Promise<ToolResult> {
    return callTool(this.#open.connection, name, args, { signal: this.#signal, timeoutMs: listTimeoutMs });
  }
}

async function listTools(address: GatewayAddress, signal: AbortSignal): Promise<readonly ToolSummary[]> {
  const answer = await getFromGateway(address, "/api/v1/tools", signal, listTimeoutMs);
  if (!Array.isArray(answer)) throw unexpected("/api/v1/tools");
  return answer as unknown as readonly ToolSummary[];
}

async function listServers(address: GatewayAddress, signal: AbortSignal): Promise<readonly ServerState[]> {
  const status = await getFromGateway(address, "/api/v1/status", signal);
  const { servers, toolspecs, packages } = isJsonObject(status) ? status : {};
  if (!Array.isArray(servers)) throw unexpected("/api/v1/status");
  // A gateway of an earlier version has no toolspecs or no packages.
  const statesOf = (kind: ServerState["kind"], list: readonly JsonValue[]) =>
    list.filter(isJsonObject).map(({ id, health, waitingTools }): ServerState => {
      const { state } = isJsonObject(health) ? health : {};
      const why = isJsonObject(health) ? reasonOrStep(health as unknown as Health) : undefined;
      return {
        id: String(id),
        kind,
        state: String(state),
        reason: typeof why === "string" ? why : undefined,
        ...(typeof waitingTools === "number" ? { waitingTools } : {}),
      };
    });
  return [
    ...statesOf("server", servers),
    ...statesOf("toolspec", Array.isArray(toolspecs) ? toolspecs : []),
    ...statesOf("package", Array.isArray(packages) ? packages : []),
  ];
}

/** Sends `tools/call`. Throws the gateway's refusals and failures with their codes. */
async function callTool(
  connection: Connection,
  name: string,
  args: JsonObject,
  options: ConnectionRequestOptions,
): Promise<ToolResult> {
  let result: JsonObject;
  try {
    result = await connection.request("tools/call", { name, arguments: args }, options);
  } catch (error) {
    throw toGatewayFailure(error);
  }
  const meta = isJsonObject(result["_meta"]) ? result["_meta"] : {};
  const code = meta["toolcrib/code"];
  if (result["isError"] === true && typeof code === "string" && code !== "ARGUMENTS_INVALID") {
    const [message = "", hint] = textOf(result).split("\nHint: ");
    throw new CodedError(code, message, { hint, data: { callId: meta["toolcrib/callId"] } });
  }
  return result as unknown as ToolResult;
}

/**
 * Converts a JSON-RPC error: one that carries a code of the gateway, or that of a server, which the gateway passes on
 * unchanged and which has the same code here as on the audit trail and without a running gateway.
 */
function toGatewayFailure(error: unknown): unknown {
  if (!(error instanceof McpError)) return error;
  const { code, hint } = isJsonObject(error.rpcData) ? error.rpcData : {};
  if (typeof code !== "string")
    return error.code === "MCP_REMOTE_ERROR"
      ? new CodedError("UPSTREAM_ERROR", error.message, { cause: error })
      : error;
  if (typeof hint !== "string") return new CodedError(code, error.message, { cause: error });
  return new CodedError(code, withoutHint(error.message, hint), { hint, cause: error });
}

function hitsOf(result: ToolResult): readonly Omit<ToolHit, "id">[] {
  const structured = result.structuredContent;
  const tools = isJsonObject(structured) ? structured["tools"] : undefined;
  if (!Array.isArray(tools)) throw unexpected("search_tools");
  return tools as unknown as readonly Omit<ToolHit, "id">[];
}

function toDescription(summary: ToolSummary, result: ToolResult): ToolDescription {
  const definition = parseJson(textOf(result as unknown as JsonObject));
  if (!isJsonObject(definition)) throw unexpected("describe_tool");
  const { name: _name, ...rest } = definition;
  return { ...summary, ...rest } as unknown as ToolDescription;
}

function textOf(result: JsonObject): string {
  const [first] = Array.isArray(result["content"]) ? result["content"] : [];
  return isJsonObject(first) && typeof first["text"] === "string" ? first["text"] : "";
}

function unexpected(what: string): CliError {
  return new CliError("CLI_GATEWAY_UNUSABLE", `The gateway's response to ${what} has an unknown format`, {
    hint: "it may run another version: restart it",
  });
}
