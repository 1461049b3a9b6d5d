/**
 * The load client on the legacy HTTP+SSE transport, for contenders without
 * a newer one: one GET stream carries every response, POSTs carry the requests.
 */

import { ConnectionPool, eventsIn } from "./connection-pool.ts";
import { initialize, type McpClient, type Result, Waiting } from "./mcp-client.ts";

/** Uses MCP over the legacy transport: one GET stream with every response, POSTs to the path that it names. */
export async function connectLegacySse(url: URL): Promise<McpClient> {
  const pool = new ConnectionPool(url);
  const waiting = new Waiting();
  let lastId = 0;
  const endpoint = Promise.withResolvers<string>();
  let rest = "";
  const stream = pool.take();
  const fail = (error: Error): void => {
    endpoint.reject(error);
    waiting.failAll(error);
  };
  stream
    .send(
      `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\n\r\n`,
      (text) => {
        rest += text;
        const end = Math.max(rest.lastIndexOf("\n\n") + 2, rest.lastIndexOf("\r\n\r\n") + 4);
        if (end < 4) return;
        const events = eventsIn(rest.slice(0, end));
        rest = rest.slice(end);
        for (const { event, data } of events) {
          if (event === "endpoint") endpoint.resolve(data);
          else if (data !== "") waiting.settle(data);
        }
      },
    )
    .then((answer) => fail(new Error(`the stream ended with HTTP status ${answer.status}`)), fail);
  try {
    const path = await endpoint.promise;
    const post = async (message: object): Promise<void> => {
      const answer = await pool.post(path, "", JSON.stringify(message));
      if (answer.status >= 300) throw new Error(`HTTP status ${answer.status}: ${answer.body.slice(0, 200)}`);
    };
    const request = async (method: string, params: object): Promise<Result> => {
      lastId += 1;
      const answer = waiting.add(lastId, method);
      const posted = post({ jsonrpc: "2.0", id: lastId, method, params });
      // Both must succeed, so the code must handle a failure of either.
      const [result] = await Promise.all([answer, posted]);
      return result;
    };
    await initialize(request, (method) => post({ jsonrpc: "2.0", method }));
    return { request, rest: () => pool.rest(), close: (reason) => pool.close(reason) };
  } catch (error) {
    pool.close();
    throw error;
  }
}
