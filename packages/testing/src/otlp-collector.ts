/** An OpenTelemetry collector on loopback: it keeps every request as it was sent, and answers as the test says. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { closeHttpServer, listenOnLoopback } from "./loopback-http.ts";

/** A request of an exporter. */
export interface OtlpRequest {
  /** `/v1/traces`, `/v1/metrics` or `/v1/logs`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A running collector. */
export interface OtlpCollector extends AsyncDisposable {
  /** The base URL. */
  readonly url: string;
  /** The requests whose body was received, in order. */
  readonly requests: readonly OtlpRequest[];
  /** Answers a request from now on. @default 200 with an empty body */
  answer: (response: ServerResponse, request: OtlpRequest) => void;
  /** Returns the bodies of the requests for `path` as JSON. */
  json(path: string): readonly unknown[];
}

/** Starts a collector. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const requests: OtlpRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const received = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) };
      requests.push(received);
      collector.answer(response, received);
    });
  });
  const port = await listenOnLoopback(server, 0);
  const collector: OtlpCollector = {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (response) => void response.writeHead(200).end(),
    json: (path) =>
      requests
        .filter((request) => request.path === path)
        .map(({ body }) => JSON.parse(body.toString("utf8")) as unknown),
    [Symbol.asyncDispose]: () => closeHttpServer(server),
  };
  return collector;
}
