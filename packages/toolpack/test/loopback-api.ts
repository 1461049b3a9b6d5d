/** A service on loopback that records every request, and a `send` that routes every host to it. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request as openRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { SendRequest } from "@toolcrib/toolpack";

/** A request as received. */
export interface SeenRequest {
  /** `GET https://api.example.com/items?a=1`. */
  readonly line: string;
  /** In the order of arrival, without those of the connection. */
  readonly headers: readonly string[];
  /** One character for each byte. */
  readonly body: string;
}

/** A response. @default 200 without a body */
export interface Reply {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
}

/** A running service. */
export interface LoopbackApi extends AsyncDisposable {
  readonly send: SendRequest;
  readonly seen: readonly SeenRequest[];
}

const ofConnection = /^(?:host|connection|content-length|transfer-encoding)$/i;

/** Starts the service. Calls `answer` with the index of each request, from 0. */
export async function openLoopbackApi(
  answer: (request: SeenRequest, index: number) => Reply | Promise<Reply>,
): Promise<LoopbackApi> {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    void read(incoming).then(async (request) => {
      const index = seen.push(request) - 1;
      const { status = 200, headers = {}, body = "" } = await answer(request, index);
      outgoing.writeHead(status, headers);
      outgoing.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    send: (request) => send(request, port),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(incoming: IncomingMessage): Promise<SeenRequest> {
  const { method, url, rawHeaders, headers } = incoming;
  const pairs: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!ofConnection.test(rawHeaders[at] ?? "")) pairs.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  const body = (await buffer(incoming)).toString("latin1");
  return { line: `${method} https://${headers.host}${url}`, headers: pairs, body };
}

function send(request: Parameters<SendRequest>[0], port: number): ReturnType<SendRequest> {
  const { method, url, headers, body, signal, maxBytes } = request;
  const { host } = new URL(url);
  assert.ok(url.startsWith(`https://${host}/`));
  return new Promise((resolve, reject) => {
    const outgoing = openRequest(
      {
        host: "127.0.0.1",
        port,
        method,
        // The planned URL is sent unchanged, without a URL parser.
        path: url.slice(`https://${host}`.length),
        headers: {
          Host: host,
          ...headers,
          ...(body === undefined ? {} : { "Content-Length": String(body.length) }),
        },
        agent: false,
        signal,
      },
      (response) => {
        buffer(response).then((whole) => {
          const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(received),
            body: whole.subarray(0, maxBytes),
            totalBytes: whole.length,
          });
        }, reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
