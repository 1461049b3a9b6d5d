/** The interface of a registry (registry document). Types only. */

import type { Readable, Writable } from "node:stream";
import type { PolicyConfig } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import type { CallOptions, ToolHit } from "@toolcrib/gateway";
import type { BackendSelector } from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import type { ClientTransport, ServerInfo, StdioServer } from "@toolcrib/mcp";
import type { SearchOptions } from "@toolcrib/search";
import type { Health, Tool, ToolId, Unsubscribe } from "@toolcrib/tool";
import type { LocalHandler, LocalToolOptions } from "./local-source.ts";
import type { AuthenticateRequest, RequestHandler } from "./serve-authenticated.ts";

/** Options of a registry. Each has a default. */
export interface RegistryConfig {
  /** Name and version that clients receive in `initialize`. @default toolcrib 0.0.0 */
  readonly serverInfo?: ServerInfo;
  /**
   * Chooses among several backends of one tool: functions of the program, and backends that serve one namespace. Called
   * only where there is a choice. @default local, then provider, then mcp; of these, the one that was registered first
   */
  readonly backendSelector?: BackendSelector;
  /** Parameters of the ranking of searches (registry document, SearchConfig). @default those of the gateway */
  readonly search?: SearchOptions;
  /** The listing of tools for clients that are served. */
  readonly listing?: ListingOptions;
  /** Allow and deny lists of tool patterns. @default everything is allowed */
  readonly policy?: Partial<PolicyConfig>;
  /**
   * Functions that are asked about calls, by their names, in this order: before a call about its arguments, after it
   * about its result. @default none
   */
  readonly hooks?: {
    readonly beforeCall?: { readonly [name: string]: RegistryHook };
    readonly afterCall?: { readonly [name: string]: RegistryHook };
  };
  /** Home folder of the audit trail. @default no trail is kept */
  readonly auditHome?: string;
  /** Receives structured log records. @default none are written */
  readonly logger?: Logger;
}

/** A function that is asked about calls (docs/guides/hooks.md). */
export interface RegistryHook {
  /** Patterns of the tools whose calls it is asked about. @default all but Toolcrib's own tools */
  readonly tools?: readonly string[];
  /** Milliseconds in which it must answer, 1 to 300,000. @default 5000 */
  readonly timeoutMs?: number;
  /**
   * Answers a question: `{ decision: "allow" }`, `{ decision: "deny", message }`, or `{ decision: "replace", … }` with
   * `arguments`, `result` or `error`. A call is denied, or its result withheld, where it throws, is late, or answers anything else.
   *
   * @param options `signal` aborts when nobody waits for the answer any more.
   */
  ask(question: JsonObject, options: { readonly signal: AbortSignal }): JsonObject | Promise<JsonObject>;
}

/** The listing of tools for clients that are served. */
export interface ListingOptions {
  /** `search` lists Toolcrib's own tools only, which find and call the others; `auto` does so above 40 tools. @default "full" */
  readonly mode?: "full" | "search" | "auto";
  /** Whether Toolcrib's own tools, such as `search_tools`, exist. Without them the mode is `full`. @default true */
  readonly ownTools?: boolean;
  /** Patterns of tools that are never listed or found; they can be called by name. @default none */
  readonly hidden?: readonly string[];
  /** Patterns of tools that are listed in every mode. @default none */
  readonly pinned?: readonly string[];
}

/** An MCP server to aggregate (registry document, BackendConfig). */
export interface BackendConfig {
  /** Unique. */
  readonly name: string;
  /**
   * The namespace of its tools. Where several backends serve one namespace, the selector chooses among those that have
   * a tool; the tool is listed as the backend that it prefers defines it. @default the name
   */
  readonly namespace?: string;
  /** `http(s)://`, `sse(s)://` or `stdio://` (this process's standard streams). Not needed with `transport`. */
  readonly url?: string;
  /** Sent with each HTTP request. */
  readonly headers?: { readonly [name: string]: string };
  /** Consecutive failed connections after which the registry stops trying, 0 to 1,000,000. @default it never stops */
  readonly maxRetries?: number;
  /** Milliseconds before the first retry, 1 to 60,000; doubled each time, up to a minute. @default 250 */
  readonly retryInterval?: number;
  /** Used instead of `url`: makes a new transport for each connection. */
  readonly transport?: () => ClientTransport;
}

/** The tools to list. */
export interface ListToolsOptions {
  readonly namespace?: string;
  /** Tools that have all of these tags. */
  readonly tags?: readonly string[];
  /** Cursor of the previous page. */
  readonly cursor?: string;
  /** Tools on a page, 1 to 1000. @default 100 */
  readonly limit?: number;
  /** Whether Toolcrib's own tools are listed too. @default false */
  readonly ownTools?: boolean;
}

/** A change in a registry. */
export interface RegistryChange {
  readonly kind: "tools" | "backend";
  /** The backend whose health changed. */
  readonly backend?: string;
}

/** State of a registry and of its backends. */
export interface RegistryHealth {
  readonly state: "new" | "started" | "stopped";
  readonly backends: { readonly [name: string]: Health };
}

/** Options for serving clients. */
export interface ServeOptions {
  /**
   * Authenticates each request. Policy, sessions, shares of limits and the audit trail distinguish clients by the issuer
   * and the subject that it returns.
   *
   * @default all clients are one, `toolcrib:anonymous`, and the program authenticates requests before the handler
   */
  readonly authenticate?: AuthenticateRequest;
}

/** A registry. Disposing it is `stop()`. */
export interface Registry extends AsyncDisposable {
  /**
   * Registers a function as a tool, before or after `start`.
   *
   * @returns its id, `namespace:name` or `namespace:name:version`.
   * @throws {RegistryError} `REGISTRY_INVALID_REQUEST`, `REGISTRY_HANDLER_NOT_FOUND`
   */
  registerLocal(
    name: string,
    description: string,
    inputSchema: JsonObject,
    handler: LocalHandler,
    options?: LocalToolOptions,
  ): ToolId;
  /** Removes a local tool. @returns whether it existed */
  unregisterLocal(id: ToolId): boolean;
  /** Registers an MCP server. It is connected by `start`, or at once if the registry is started. @throws {RegistryError} `REGISTRY_INVALID_REQUEST` */
  registerBackend(backend: BackendConfig): void;
  /** Disconnects and removes a backend. @throws {RegistryError} `REGISTRY_BACKEND_NOT_FOUND` */
  unregisterBackend(name: string): Promise<void>;
  /** Connects all backends; resolves when each made its first contact, successful or not. @throws {RegistryError} `REGISTRY_ALREADY_STARTED` */
  start(): Promise<void>;
  /** Closes backends and clients. Safe to repeat. */
  stop(): Promise<void>;
  health(): RegistryHealth;
  /**
   * Executes a tool and maps its result: to the structured content if there is
   * any, else to the only text, else to the list of content blocks.
   *
   * @throws {RegistryError} `REGISTRY_NOT_STARTED`, `REGISTRY_TOOL_NOT_FOUND`,
   *   `REGISTRY_BACKEND_NOT_FOUND`, `REGISTRY_HANDLER_NOT_FOUND`, `REGISTRY_EXECUTION_FAILED`
   */
  execute(id: ToolId, args?: JsonObject, options?: CallOptions): Promise<unknown>;
  /** Searches the tools. @param limit 1 to 1000. @default 20 */
  search(query: string, limit?: number): readonly ToolHit[];
  getTool(id: ToolId): Tool | undefined;
  /** Lists tools. @throws {McpError} `CURSOR_STALE` when the tools changed since the cursor was issued */
  listTools(options?: ListToolsOptions): {
    readonly tools: readonly Tool[];
    readonly nextCursor: string | undefined;
  };
  /** Namespaces that have tools, sorted. */
  namespaces(): readonly string[];
  onChange(listener: (change: RegistryChange) => void): Unsubscribe;
  /** Serves a client, `toolcrib:stdio`, on a pair of streams. @throws {RegistryError} `REGISTRY_NOT_STARTED` */
  serveStdio(streams?: { readonly input: Readable; readonly output: Writable }): StdioServer;
  /**
   * Returns a handler of streamable HTTP for a `node:http` server. The program checks `Host` and `Origin` before it calls
   * the handler.
   *
   * @throws {RegistryError} `REGISTRY_NOT_STARTED`
   */
  serveHttp(options?: ServeOptions): RequestHandler;
  /** Returns a handler of legacy SSE, as `serveHttp`: GET opens the stream, POSTs to the same path carry messages. */
  serveSse(path: string, options?: ServeOptions): RequestHandler;
}
