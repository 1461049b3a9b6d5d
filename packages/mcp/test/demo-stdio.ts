/** Entry: the demo service on stdin and stdout, until stdin ends. What fits nowhere goes to stderr. */

import { startStdioServer } from "@toolcrib/mcp";
import { createDemoService } from "./demo-service.ts";

const service = createDemoService();
const server = startStdioServer(
  service,
  { input: process.stdin, output: process.stdout },
  {
    view: "pipe",
    identity: { kind: "stdio", name: "local" },
    sessionId: "the-pipe",
    endGraceMs: Number(process.argv[2] ?? 10_000),
    onStray: (reason) => process.stderr.write(`${reason}\n`),
  },
);
await server.ended;
await server[Symbol.asyncDispose]();
