/**
 * A small service for tests: tools that answer, wait, send notifications, send
 * requests to their client and flood it. It records requests for assertions.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  invalidRequest,
  type Listener,
  type McpService,
  methodNotFound,
  type ServerSession,
  type ServiceRequest,
} from "@toolcrib/mcp";

export interface DemoService extends McpService {
  /** Pending calls of the tool `wait`, by their name. */
  readonly waiting: Map<string, ServiceRequest>;
  /** Lets a call of `wait` return its name. */
  release(name: string): void;
  /** Lets the calls of the tool `late`, which have returned, send progress and a log message. */
  sendLate(): void;
  /** The reasons of aborted requests. */
  readonly aborted: unknown[];
  readonly sessions: Set<ServerSession>;
  readonly listeners: Set<Listener>;
  /** Number of handled requests. */
  count: number;
}

type DemoTool = (given: JsonObject, request: ServiceRequest) => JsonObject | Promise<JsonObject>;

export function textResult(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}

/** Returns the text of a result. */
export function textOf(result: unknown): string {
  const { content } = result as { content: { text: string }[] };
  return content[0]?.text ?? "";
}

/** The schema of the tool `mirror`. */
export const mirrorSchema: JsonObject = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    dry: { type: "boolean", "x-mcp-header": "Dry-Run" },
    nested: { type: "object", properties: { level: { type: "integer", "x-mcp-header": "Level" } } },
  },
};

export function createDemoService(): DemoService {
  const waiting = new Map<string, ServiceRequest>();
  const releases = new Map<string, () => void>();
  const returned: ServiceRequest[] = [];
  const sessions = new Set<ServerSession>();
  const listeners = new Set<Listener>();
  const aborted: unknown[] = [];

  const tools: { readonly [name: string]: DemoTool } = {
    echo: (given) => textResult(String(given["text"] ?? "")),
    mirror: (given) => textResult(JSON.stringify(given)),
    who: (_given, { identity, view, era, clientInfo, clientCapabilities, session }) =>
      textResult(
        JSON.stringify({
          identity: identity.name,
          view,
          era,
          clientInfo,
          clientCapabilities,
          session: session?.id,
        }),
      ),
    wait(given, request) {
      const name = String(given["name"] ?? "");
      waiting.set(name, request);
      return new Promise((resolve, reject) => {
        releases.set(name, () => {
          waiting.delete(name);
          resolve(textResult(`released ${name}`));
        });
        request.signal.addEventListener("abort", () => {
          waiting.delete(name);
          aborted.push(request.signal.reason);
          reject(request.signal.reason);
        });
      });
    },
    progress(given, request) {
      const steps = Number(given["steps"] ?? 3);
      for (let step = 1; step <= steps; step += 1)
        request.progress({ progress: step, total: steps, message: `step ${step}` });
      return textResult(`${steps} steps`);
    },
    // The notification of `wait` and its end, for clients in other processes.
    report(given) {
      waiting.get(String(given["name"]))?.progress({ progress: Number(given["step"]) });
      return textResult("reported");
    },
    release(given) {
      releases.get(String(given["name"]))?.();
      return textResult("released");
    },
    log(given, request) {
      for (const level of ["debug", "info", "error"])
        request.notify("notifications/message", { level, logger: "demo", data: given["data"] ?? "said" });
      return textResult("logged");
    },
    async ask(given, request) {
      const params = isJsonObject(given["params"]) ? given["params"] : {};
      return textResult(JSON.stringify(await request.ask(String(given["method"]), params, request.signal)));
    },
    flood(given, request) {
      const data = "x".repeat(Number(given["bytes"]));
      for (let count = 0; count < Number(given["count"]); count += 1)
        request.notify("notifications/message", { level: "info", data });
      return textResult("flooded");
    },
    large: (given) => textResult("y".repeat(Number(given["bytes"]))),
    structured: (given) => ({
      ...(given["isBare"] === true ? { content: [] } : textResult("structured")),
      structuredContent: given["value"] ?? null,
    }),
    late(_given, request) {
      returned.push(request);
      return textResult("done");
    },
    announce(given, request) {
      request.session?.notify("notifications/tools/list_changed", { given });
      for (const listener of listeners) listener.notify("notifications/tools/list_changed", { given });
      return textResult("announced");
    },
    aborted: () => textResult(aborted.map(String).join("; ")),
    refuse(given) {
      throw invalidRequest("Refused on purpose", Number(given["code"] ?? -32602));
    },
    crash() {
      throw new TypeError("The password is hunter2");
    },
  };

  const service: DemoService = {
    waiting,
    release: (name) => releases.get(name)?.(),
    sendLate() {
      for (const request of returned.splice(0)) {
        request.progress({ progress: 1 });
        request.notify("notifications/message", { level: "error", data: "too late" });
      }
    },
    aborted,
    sessions,
    listeners,
    count: 0,
    serverInfo: { name: "demo", version: "1.2.3" },
    capabilities: () => ({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
    }),
    instructions: (view) => `Instructions of ${view}`,
    async handle(request) {
      service.count += 1;
      const { method, params } = request;
      if (method === "tools/list") {
        const list = Object.keys(tools).map((name) => ({
          name,
          inputSchema: name === "mirror" ? mirrorSchema : { type: "object" },
        }));
        return { tools: list };
      }
      if (method === "resources/read") return { contents: [{ uri: params["uri"] ?? "", text: "content" }] };
      if (method !== "tools/call") throw methodNotFound(method);
      const tool = tools[String(params["name"])];
      if (tool === undefined) throw invalidRequest(`Unknown tool: "${String(params["name"])}"`, -32602);
      return tool(isJsonObject(params["arguments"]) ? params["arguments"] : {}, request);
    },
    sessionOpened: (session) => void sessions.add(session),
    sessionClosed: (session) => void sessions.delete(session),
    async listen(listener) {
      listeners.add(listener);
      listener.closed.addEventListener("abort", () => listeners.delete(listener));
      const { toolsListChanged, resourceSubscriptions } = listener.filter;
      // Sent before the acknowledgement, but must arrive after it.
      if (toolsListChanged) listener.notify("notifications/tools/list_changed", { early: true });
      return {
        ...(toolsListChanged ? { toolsListChanged } : undefined),
        ...(resourceSubscriptions === undefined ? undefined : { resourceSubscriptions }),
      };
    },
    toolInputSchema: (_view, _identity, name) => (name === "mirror" ? mirrorSchema : undefined),
  };
  return service;
}
