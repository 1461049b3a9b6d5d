/** An API on loopback over TLS, and gateways that offer it as toolspecs. */

import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { JsonObject } from "@toolcrib/json";
import {
  clearDefaultRoots,
  createTestAuthority,
  makeTemporaryDirectory,
  type RecordedRequest,
  sampleCatalog,
  startTlsServer,
  type TlsServer,
} from "@toolcrib/testing";
import { startTestGateway, type TestGateway } from "./gateway-harness.ts";

clearDefaultRoots();

/** The secret of these tests, a canary that tests search for in every output. */
export const canary = "c4nary-value-of-a-secret";

/** An API and the requests that it receives. */
export interface TestApi extends AsyncDisposable {
  readonly server: TlsServer;
  /** The configuration section `egress` that routes requests to it. */
  readonly egress: JsonObject;
  /** Returns the value of a header of each request so far. */
  headersNamed(name: string): (string | undefined)[];
}

/** Starts the API of the services `acme` and `beta`. */
export async function startTestApi(
  respond: (request: RecordedRequest, response: ServerResponse) => void = answerRepos,
): Promise<TestApi> {
  const directory = await makeTemporaryDirectory();
  const authority = createTestAuthority();
  const hosts = ["api.acme.example", "api.beta.example"];
  const server = await startTlsServer({ certificate: authority.sign({ hosts }), respond });
  const caFile = join(directory.path, "ca.pem");
  writeFileSync(caFile, authority.certificate);
  return {
    server,
    egress: {
      internal_ranges: ["127.0.0.0/8"],
      connect_to: Object.fromEntries(hosts.map((host) => [host, server.endpoint])),
      ca_files: [caFile],
    },
    headersNamed: (wanted) =>
      server.requests.map(({ headers }) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1]),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Responds with the request. */
function answerRepos({ method, target }: RecordedRequest, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ method, target }));
}

/** Returns an entry of `toolspecs` whose secret is stored under the name `secret`. */
export function entry(
  name: string,
  secret: string | JsonObject = `${name}-token`,
  more: JsonObject = {},
): JsonObject {
  return { name, credentials: { token: { secret_key_ref: secret } }, ...more };
}

/** Starts a gateway that calls `api` through `toolspecs` of the catalog (`acme`, `beta`). */
export function startToolspecGateway(
  api: Pick<TestApi, "egress">,
  toolspecs: readonly JsonObject[],
  {
    document = {},
    files = {},
    ...options
  }: { readonly document?: JsonObject } & Parameters<typeof startTestGateway>[1] = {},
): Promise<TestGateway> {
  const inCatalog = Object.entries(sampleCatalog("acme", "beta")).map(([path, text]) => [
    `catalog/${path}`,
    text,
  ]);
  return startTestGateway(
    { toolspecs: [...toolspecs], egress: api.egress, ...document },
    { ...options, files: { ...Object.fromEntries(inCatalog), ...files } },
  );
}
