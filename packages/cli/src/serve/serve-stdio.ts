/** MCP with the one client that started this process, over standard input and output, for as long as it stays. */

import { randomUUID } from "node:crypto";
import type { Logger } from "@toolcrib/diagnostics";
import { type McpService, startStdioServer } from "@toolcrib/mcp";
import { localIdentity } from "@toolcrib/tool";
import type { ProcessContext } from "../process-context.ts";

/** Serve `service` until the client is gone or the process is asked to stop. */
export async function serveStdio(
  service: McpService,
  context: ProcessContext,
  logger: Logger,
): Promise<void> {
  await using server = startStdioServer(
    service,
    { input: context.stdin, output: context.stdout as NodeJS.WriteStream },
    {
      view: "",
      identity: localIdentity("stdio", "stdio"),
      sessionId: randomUUID(),
      onUnexpected: (reason) => logger.debug({ reason }, "message fits nowhere"),
    },
  );
  await Promise.race([server.ended, untilInterrupted(context)]);
}

/** Resolves when the process is asked to stop. */
export function untilInterrupted({ signal }: Pick<ProcessContext, "signal">): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
