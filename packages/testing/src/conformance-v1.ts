/**
 * Entry: the conformance server on the first generation of the SDK, over stdio or
 * streamable HTTP. With HTTP, the first line on stdout is its URL.
 *
 *     node packages/testing/src/conformance-v1.ts [--http]
 */

import { parseArgs } from "node:util";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createConformanceV1Server } from "./conformance-v1-server.ts";
import { serveV1 } from "./tasks/serve-v1.ts";
import { untilStopped } from "./until-stopped.ts";

const { values } = parseArgs({ options: { http: { type: "boolean", default: false } } });
if (values.http) await serveHttp();
else await createConformanceV1Server().connect(new StdioServerTransport());

async function serveHttp(): Promise<void> {
  await using served = await serveV1(createConformanceV1Server);
  console.log(served.url);
  await untilStopped();
}
