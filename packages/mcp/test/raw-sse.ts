/** Raw clients of legacy HTTP+SSE: a stream, and POSTs to the URL that it names. */

import { waitUntil } from "@toolcrib/testing";
import { type DemoHttp, type RawAnswer, send, type WireMessage } from "./demo-http.ts";

/** An open stream. */
export interface SseSession {
  readonly stream: RawAnswer;
  readonly messagesUrl: string;
  post(body: unknown, headers?: { readonly [name: string]: string }): Promise<RawAnswer>;
  answerTo(id: unknown): Promise<WireMessage>;
}

/** Opens a stream as `user`. */
export async function openStream(demo: DemoHttp, user = "local"): Promise<SseSession> {
  const headers = { "x-user": user };
  const response = await sseGet(demo.sseUrl, headers);
  const stream = response.stream;
  const messagesUrl = new URL(await response.endpoint, demo.sseUrl).href;
  const post: SseSession["post"] = (body, extra = {}) =>
    send("POST", messagesUrl, body, { ...headers, ...extra });
  return {
    stream,
    messagesUrl,
    post,
    answerTo: (id) =>
      waitUntil(() => stream.messages.find((message) => message.id === id && message.method === undefined)),
  };
}

/** The first event contains a URL, not JSON, so the test parses this stream itself. */
export async function sseGet(url: string, headers: { readonly [name: string]: string }) {
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: { accept: "text/event-stream", ...headers },
    signal: controller.signal,
  });
  const messages: WireMessage[] = [];
  const named = Promise.withResolvers<string>();
  let raw = "";
  let taken = 0;
  const ended = (async () => {
    const text = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      raw += text.decode(chunk, { stream: true });
      for (let end = raw.indexOf("\n\n", taken); end !== -1; end = raw.indexOf("\n\n", taken)) {
        const block = raw.slice(taken, end);
        taken = end + 2;
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data === undefined) continue;
        if (block.startsWith("event: endpoint\n")) named.resolve(data);
        else messages.push(JSON.parse(data) as WireMessage);
      }
    }
  })();
  ended.catch(() => {});
  const type = response.headers.get("content-type") ?? "";
  const stream: RawAnswer = {
    status: response.status,
    headers: response.headers,
    type,
    messages,
    events: [],
    raw: () => raw,
    ended,
    close: () => controller.abort(),
  };
  return { stream, endpoint: response.status === 200 ? named.promise : Promise.resolve("") };
}
