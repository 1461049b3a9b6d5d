/**
 * Entry: the conformance server on streamable HTTP. The first line on stdout
 * is its URL. It runs until SIGTERM, SIGINT or the end of stdin (if stdin is a
 * pipe), so that it does not outlive its parent.
 *
 *     node packages/testing/src/conformance-http.ts [--port N]
 */

import { parseArgs } from "node:util";
import { startConformanceHttpServer } from "./conformance-http-server.ts";
import { untilStopped } from "./until-stopped.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } });
await using server = await startConformanceHttpServer({ port: Number(values.port) });
console.log(server.url);
await untilStopped();
