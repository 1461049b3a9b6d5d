/** A gateway whose configuration changes while it runs, and its clients over HTTP, for tests. */

import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TemporaryDirectory } from "@toolcrib/testing";

const server = fileURLToPath(new URL("reload-server.mjs", import.meta.url));

/** An entry of `tool_servers` whose tools answer with the id of its process. @param env of the process */
export function smallServer(
  id: string,
  tool: string,
  { env = {}, more = [] }: { readonly env?: object; readonly more?: readonly string[] } = {},
): object {
  return {
    id,
    transport: { kind: "stdio", command: process.execPath, args: [server, tool, ...more], env },
    trust_state: "certified",
  };
}

/** Writes a configuration as editors do: to another file, which replaces the first one. */
export function replaceConfig(directory: TemporaryDirectory, config: object | string): void {
  const text = typeof config === "string" ? config : JSON.stringify(config, undefined, 2);
  writeFileSync(directory.join("toolcrib.json.new"), text);
  renameSync(directory.join("toolcrib.json.new"), directory.join("toolcrib.json"));
}

/** A notification, and when it came, in milliseconds of `performance.now()`. */
interface Notified {
  readonly method: string;
  readonly at: number;
}

/** A client of the gateway with a session and a stream of notifications. */
export class HttpClient implements AsyncDisposable {
  readonly #url: string;
  readonly #closing = new AbortController();
  readonly #headers: { [name: string]: string };
  readonly #notified: Notified[] = [];
  #reading: Promise<void> = Promise.resolve();
  #nextId = 1;

  private constructor(url: string) {
    this.#url = url;
    this.#headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    };
  }

  /** Opens a session. @param gateway base URL of a gateway without authentication */
  static async open(gateway: string): Promise<HttpClient> {
    const client = new HttpClient(`${gateway}/mcp`);
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    };
    const response = await client.#post({ id: 0, method: "initialize", params });
    client.#headers["mcp-session-id"] = response.headers.get("mcp-session-id") ?? "";
    await response.text();
    await (await client.#post({ method: "notifications/initialized" })).text();
    const stream = await fetch(client.#url, {
      headers: { ...client.#headers, accept: "text/event-stream" },
      signal: client.#closing.signal,
    });
    assert.equal(stream.status, 200);
    client.#reading = client.#read(stream).catch(() => {});
    return client;
  }

  /** The methods of the notifications so far. */
  get notified(): readonly string[] {
    return this.#notified.map(({ method }) => method);
  }

  /** When the first notification of changed tools came after the first `count` ones; undefined for none. */
  notifiedOfToolsAt(count: number): number | undefined {
    return this.#notified.slice(count).find(({ method }) => method === "notifications/tools/list_changed")
      ?.at;
  }

  /** Calls a tool. @returns its text, or the message of the error */
  async call(name: string, args: object = {}): Promise<{ readonly text: string; readonly isError: boolean }> {
    const { result, error } = await this.#request("tools/call", { name, arguments: args });
    if (error !== undefined) return { text: error.message, isError: true };
    return { text: result.content[0].text, isError: result.isError === true };
  }

  /** The names of the listed tools, without those of the gateway, in alphabetical order. */
  async tools(): Promise<readonly string[]> {
    const { result } = await this.#request("tools/list", {});
    const names = result.tools.map(({ name }: { readonly name: string }) => name) as string[];
    return names.filter((name) => name.includes("__")).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#reading;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests read members of answers
  async #request(method: string, params: object): Promise<any> {
    const response = await this.#post({ id: this.#nextId++, method, params });
    const text = await response.text();
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream) return JSON.parse(text);
    const data = text.split("\n").filter((line) => line.startsWith("data: "));
    return JSON.parse(data.at(-1)?.slice("data: ".length) ?? "null");
  }

  #post(message: object): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return fetch(this.#url, { method: "POST", headers: this.#headers, body });
  }

  async #read(stream: Response): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const { method } = JSON.parse(line.slice("data: ".length));
        this.#notified.push({ method, at: performance.now() });
      }
    }
  }
}
