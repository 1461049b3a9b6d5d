/**
 * The load client's connections to one contender, and how it reads Server-Sent
 * Events. It never limits how many connections there are: the load does.
 */

import { HttpConnection } from "./http-connection.ts";

/** The connections to one contender: as many as there are calls at a time, each used again when free. */
export class ConnectionPool {
  readonly url: URL;
  readonly #idle: HttpConnection[] = [];
  readonly #all = new Set<HttpConnection>();

  constructor(url: URL) {
    this.url = url;
  }

  async post(path: string, headers: string, body: string): ReturnType<HttpConnection["send"]> {
    const connection = this.take();
    const answer = await connection.send(
      `POST ${path} HTTP/1.1\r\nHost: ${this.url.host}\r\n${headers}Content-Type: application/json\r\n` +
        `Accept: application/json, text/event-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    if (connection.reusable) this.#idle.push(connection);
    else this.#all.delete(connection);
    return answer;
  }

  take(): HttpConnection {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle?.reusable === true) return idle;
      if (idle !== undefined) this.#all.delete(idle);
      else break;
    }
    const connection = new HttpConnection(Number(this.url.port));
    this.#all.add(connection);
    return connection;
  }

  rest(): void {
    for (const connection of this.#idle.splice(0)) {
      connection.close();
      this.#all.delete(connection);
    }
  }

  close(reason?: string): void {
    this.#idle.length = 0;
    for (const connection of this.#all) connection.close(reason);
    this.#all.clear();
  }
}

/** The complete events of an SSE text. */
export function eventsIn(text: string): readonly { readonly event: string; readonly data: string }[] {
  const blocks = text.split(/\r?\n\r?\n/).slice(0, -1);
  return blocks.map((block) => {
    let event = "message";
    const data: string[] = [];
    for (const line of block.split(/\r?\n/)) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line.startsWith("event:")) event = line.slice(6).trim();
    }
    return { event, data: data.join("\n") };
  });
}
