/** An OpenTelemetry collector on loopback: it keeps every request as it was sent, and answers as the test says. */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { closeHttpServer, listenOnLoopback } from "./loopback-http.ts";
import type { TestCertificate } from "./test-certificates.ts";

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

/** Certificates of a collector over https. */
export interface OtlpCollectorTls extends TestCertificate {
  /** PEM certificate of the authority that signs clients; without it, they need no certificate. */
  readonly clientAuthority?: string;
}

/** Starts a collector. @param tls certificate of `localhost`; without it, the collector speaks plain HTTP */
export async function startOtlpCollector(tls?: OtlpCollectorTls): Promise<OtlpCollector> {
  const requests: OtlpRequest[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const received = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) };
      requests.push(received);
      collector.answer(response, received);
    });
  };
  const server: Server =
    tls === undefined
      ? createServer(handle)
      : createTlsServer(
          {
            cert: tls.certificate,
            key: tls.key,
            ...(tls.clientAuthority === undefined ? {} : { ca: tls.clientAuthority, requestCert: true }),
          },
          handle,
        );
  const port = await listenOnLoopback(server, 0);
  const collector: OtlpCollector = {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
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
