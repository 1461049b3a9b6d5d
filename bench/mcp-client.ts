/**
 * The common part of the load client's transports: a client that sends requests, and
 * a small JSON-RPC core that matches responses to calls by id. Every response must
 * have the id of a waiting call.
 *
 * It never validates beyond that and never retries; a failed connection fails
 * every call that waits on it.
 */

/** The newest protocol version that has `initialize`; servers may answer with an older one. */
export const offeredVersion = "2025-11-25";

/** An answer to a request, still unknown inside. */
export type Result = Readonly<Record<string, unknown>>;

/** A connected and initialised client. */
export interface McpClient {
  request(method: string, params: object): Promise<Result>;
  /** Closes idle connections, which the contender may time out during rounds of others. */
  rest(): void;
  /** Closes everything; waiting calls fail with `reason`. */
  close(reason?: string): void;
}

/** A JSON-RPC message as it comes in. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

/** The result in an answer; throws when the answer is an error or has none. */
export function resultIn(message: Message, method: string): Result {
  if (message.error !== undefined) {
    throw new Error(`${method} was answered with error ${message.error.code}: ${message.error.message}`);
  }
  if (typeof message.result !== "object" || message.result === null) {
    throw new Error(`${method} was answered without a result`);
  }
  return message.result as Result;
}

/** Calls that wait for the answer with their id, for transports where answers come in any order. */
export class Waiting {
  readonly #calls = new Map<
    unknown,
    { method: string; resolve: (result: Result) => void; reject: (error: Error) => void }
  >();

  add(id: number, method: string): Promise<Result> {
    return new Promise((resolve, reject) => this.#calls.set(id, { method, resolve, reject }));
  }

  settle(text: string): void {
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch (cause) {
      this.failAll(new Error(`not JSON: ${text.slice(0, 200)}`, { cause }));
      return;
    }
    if (message.method !== undefined) return;
    const call = this.#calls.get(message.id);
    if (call === undefined) {
      this.failAll(new Error(`an answer came with id ${JSON.stringify(message.id)}, which nobody waits for`));
      return;
    }
    this.#calls.delete(message.id);
    try {
      call.resolve(resultIn(message, call.method));
    } catch (error) {
      call.reject(error as Error);
    }
  }

  failAll(error: Error): void {
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
  }
}

/** The handshake; resolves with the protocol version that the server chose. */
export async function initialize(
  request: McpClient["request"],
  notify: (method: string) => Promise<void>,
): Promise<string> {
  const result = await request("initialize", {
    protocolVersion: offeredVersion,
    capabilities: {},
    clientInfo: { name: "bench-load", version: "1.0.0" },
  });
  await notify("notifications/initialized");
  return String(result["protocolVersion"]);
}
