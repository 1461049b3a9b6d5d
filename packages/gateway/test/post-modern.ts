/** One `tools/call` of a modern client, written by hand, so that tests can send what no SDK sends. */

import { readToken } from "@toolcrib/auth";
import type { JsonObject } from "@toolcrib/json";
import type { TestGateway } from "./gateway-harness.ts";

/** The response to a request, with empty objects for what it does not have. */
export interface ModernAnswer {
  readonly status: number;
  readonly result: JsonObject;
  readonly error: JsonObject;
}

/** Capabilities of a client that can answer every kind of question. */
export const capabilities = { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} };

/** Sends `params` as the client `as`, with all `capabilities`. */
export async function postModern(test: TestGateway, as: string, params: JsonObject): Promise<ModernAnswer> {
  const response = await fetch(await test.endpoint(), {
    method: "POST",
    headers: {
      authorization: `Bearer ${readToken(test.home, as)}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": String(params["name"]),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        ...params,
        _meta: {
          ...(params["_meta"] as JsonObject | undefined),
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
      },
    }),
  });
  const { result = {}, error = {} } = (await response.json()) as Partial<ModernAnswer>;
  return { status: response.status, result, error };
}
