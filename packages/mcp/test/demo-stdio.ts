/** Entry point: the demo service on stdin and stdout, until stdin ends. Unexpected messages are reported on stderr. */

import { startStdioServer } from "@toolcrib/mcp";
import { localIdentity } from "@toolcrib/tool";
import { createDemoService } from "./demo-service.ts";

const service = createDemoService();
const server = startStdioServer(
  service,
  { input: process.stdin, output: process.stdout },
  {
    view: "pipe",
    identity: localIdentity("stdio", "local"),
    sessionId: "the-pipe",
    endGraceMs: Number(process.argv[2] ?? 10_000),
    onUnexpected: (reason) => process.stderr.write(`${reason}\n`),
  },
);
await server.ended;
await server[Symbol.asyncDispose]();
