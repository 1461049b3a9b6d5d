/**
 * The API at `https://127.0.0.1:9443` of the examples of error codes: the last part of a path decides
 * about the fault of its answer, and every other path has an ordinary one. The authority of its
 * certificate is new in each run.
 */

import type { ServerResponse } from "node:http";
import { createTestAuthority, type RecordedRequest, startTlsServer } from "@toolcrib/testing";

/** A running API. */
export interface ExampleApi extends AsyncDisposable {
  readonly port: number;
  /** The certificate of the authority, as PEM. */
  readonly authority: string;
}

const hosts = ["api.acme.example", "example.com", "vectors.example"];

/** Starts the API on a free port of the loopback address. */
export async function startExampleApi(): Promise<ExampleApi> {
  const authority = createTestAuthority();
  const server = await startTlsServer({ certificate: authority.sign({ hosts }), respond });
  return {
    port: server.port,
    authority: authority.certificate,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Answers by the last part of a path. */
const faults: {
  readonly [name: string]: (response: ServerResponse, request: RecordedRequest) => void;
} = {
  lost: (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"name": ', () => response.destroy());
  },
  // Nothing is sent: the client waits until its time is over.
  silent: () => {},
  compressed: (response) => {
    response
      .writeHead(200, { "content-type": "application/json", "content-encoding": "compress" })
      .end("\u001f\u009d");
  },
  repeated: (response, { headers }) => json(response, { headers: Object.fromEntries(headers) }),
  large: (response) => json(response, { items: Array.from({ length: 400_000 }, (_, id) => ({ id })) }),
  chat: (response) => json(response, { choices: [] }),
};

function respond(request: RecordedRequest, response: ServerResponse): void {
  const name = request.target.split(/[/?]/).findLast((part) => faults[part] !== undefined) ?? "";
  const fault = faults[name];
  if (fault === undefined) json(response, { id: 7, name: "notes", message: "hello" });
  else fault(response, request);
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
