/**
 * Entry: the conformance server on stdin and stdout, until stdin ends.
 *
 *     node packages/testing/src/conformance-stdio.ts
 */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createConformanceContext } from "./conformance/context.ts";
import { createConformanceServer } from "./conformance-server.ts";

const context = createConformanceContext();
serveStdio(() => createConformanceServer(context), {
  onerror: (error) => console.error(error.message),
});
