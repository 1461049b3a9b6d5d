/**
 * The load client on streamable HTTP: POSTs only, one session, responses as JSON
 * or as an event stream. It never opens the GET stream.
 */

import { ConnectionPool, eventsIn } from "./connection-pool.ts";
import { initialize, type McpClient, type Message, type Result, resultIn } from "./mcp-client.ts";

/** The message that answers `id` in a body, which is one JSON document or a stream of SSE events. */
function messageIn(contentType: string, body: string, id: number): Message {
  const texts = contentType.startsWith("text/event-stream")
    ? eventsIn(body).map((event) => event.data)
    : [body];
  for (const text of texts) {
    if (text === "") continue;
    const message = JSON.parse(text) as Message;
    if (message.method !== undefined) continue;
    if (message.id === id) return message;
    throw new Error(`call ${id} was answered with id ${JSON.stringify(message.id)}`);
  }
  throw new Error(`call ${id} was not answered: ${body.slice(0, 200)}`);
}

/** Uses MCP over streamable HTTP: POSTs only, one session, JSON or SSE answers. Sends `token`, if there is one. */
export async function connectStreamableHttp(url: URL, token?: string): Promise<McpClient> {
  const pool = new ConnectionPool(url);
  let lastId = 0;
  const authorization = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  let sessionHeaders = authorization;
  let sessionId: string | undefined;
  const request = async (method: string, params: object): Promise<Result> => {
    lastId += 1;
    const id = lastId;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const answer = await pool.post(url.pathname, sessionHeaders, body);
    if (answer.status !== 200) throw new Error(`HTTP status ${answer.status}: ${answer.body.slice(0, 200)}`);
    sessionId ??= answer.sessionId;
    return resultIn(messageIn(answer.contentType, answer.body, id), method);
  };
  const notify = async (method: string): Promise<void> => {
    const answer = await pool.post(url.pathname, sessionHeaders, JSON.stringify({ jsonrpc: "2.0", method }));
    if (answer.status >= 300) throw new Error(`HTTP status ${answer.status} for ${method}`);
  };
  try {
    const version = await initialize(request, (method) => {
      if (sessionId !== undefined) sessionHeaders += `Mcp-Session-Id: ${sessionId}\r\n`;
      return notify(method);
    });
    sessionHeaders += `MCP-Protocol-Version: ${version}\r\n`;
  } catch (error) {
    pool.close();
    throw error;
  }
  return { request, rest: () => pool.rest(), close: (reason) => pool.close(reason) };
}
