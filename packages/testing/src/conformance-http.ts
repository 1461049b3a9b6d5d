/**
 * Entry: the conformance server on streamable HTTP. The first line on stdout
 * is its URL; it runs until SIGTERM, SIGINT or the end of stdin (where stdin
 * is a pipe, so that it never outlives a parent that died).
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
