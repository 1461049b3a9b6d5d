/**
 * An MCP server on a loopback port that takes the tokens of one authorization server: a resource of
 * RFC 9728 with the tools `whoami`, and `change`, which needs the scope `write`.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readBody } from "../loopback-http.ts";
import type { FoundToken } from "./identity-provider.ts";

/** Options of the server. */
export interface ProtectedServerOptions {
  /** Returns what a token is good for; undefined for none. */
  readonly check: (token: string) => Promise<FoundToken | undefined> | FoundToken | undefined;
  readonly authorizationServers: readonly string[];
  /** Changes the metadata of the resource. */
  readonly metadata?: (metadata: { [name: string]: unknown }) => object;
  /** The scope that `change` needs. @default "write" */
  readonly changeScope?: string;
}

/** A running server. */
export interface ProtectedServer extends AsyncDisposable {
  /** The URL of its MCP endpoint. */
  readonly url: string;
  /** The tokens that it got, in their order. */
  readonly tokens: readonly string[];
  /** Number of requests that it refused with 401. */
  readonly refusals: number;
  /** From now on, refuses `token`. */
  refuse(token: string): void;
}

/** Starts the server. */
export async function startProtectedServer(options: ProtectedServerOptions): Promise<ProtectedServer> {
  const tokens: string[] = [];
  const refused = new Set<string>();
  let refusals = 0;
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      const metadata = {
        resource: `${origin}/mcp`,
        authorization_servers: options.authorizationServers,
        scopes_supported: ["read"],
      };
      send(response, 200, options.metadata?.(metadata) ?? metadata);
      return;
    }
    if (request.url !== "/mcp") {
      send(response, 404, {});
      return;
    }
    const message = JSON.parse((await readBody(request)) || "{}") as RpcRequest;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token !== undefined) tokens.push(token);
    const found = token === undefined || refused.has(token) ? undefined : await options.check(token);
    const isForThis = found?.audience === undefined || found.audience === `${origin}/mcp`;
    if (found === undefined || !isForThis) {
      refusals += 1;
      const error = token === undefined ? "" : 'error="invalid_token", ';
      challenge(response, 401, `${error}resource_metadata="${metadataUrl}"`);
      return;
    }
    const { changeScope = "write" } = options;
    if (
      message.method === "tools/call" &&
      message.params?.name === "change" &&
      !found.scopes.includes(changeScope)
    ) {
      challenge(
        response,
        403,
        `error="insufficient_scope", scope="${changeScope}", resource_metadata="${metadataUrl}"`,
      );
      return;
    }
    if (request.method !== "POST") send(response, 405, {});
    else if (message.id === undefined) response.writeHead(202).end();
    else send(response, 200, { jsonrpc: "2.0", id: message.id, ...answerTo(message, found) });
  }

  return {
    url: `${origin}/mcp`,
    tokens,
    get refusals() {
      return refusals;
    },
    refuse: (token) => void refused.add(token),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface RpcRequest {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string };
}

function answerTo({ method, params }: RpcRequest, { clientId }: FoundToken): object {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: params?.protocolVersion ?? "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "protected", version: "1.0.0" },
        },
      };
    case "tools/list": {
      const annotations = { readOnlyHint: true, openWorldHint: false };
      const inputSchema = { type: "object" };
      return { result: { tools: ["whoami", "change"].map((name) => ({ name, inputSchema, annotations })) } };
    }
    case "tools/call":
      return { result: { content: [{ type: "text", text: `${params?.name} for the client ${clientId}` }] } };
    case "ping":
      return { result: {} };
    default:
      return { error: { code: -32601, message: "Method not found" } };
  }
}

function challenge(response: ServerResponse, status: number, parameters: string): void {
  response
    .writeHead(status, { "www-authenticate": `Bearer ${parameters}`, "content-type": "application/json" })
    .end("{}");
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
