/** Serves MCP on standard input and output to the client that started this process. */

import { randomUUID } from "node:crypto";
import type { Logger } from "@toolcrib/diagnostics";
import { type McpService, startStdioServer } from "@toolcrib/mcp";
import { localIdentity } from "@toolcrib/tool";
import type { ProcessContext } from "../process-context.ts";

/** The client on standard input and output. */
export const stdioIdentity = localIdentity("stdio", "stdio");

/** Serves `service`, or a profile of it, until the client disconnects or the signal aborts. */
export async function serveStdio(
  service: McpService,
  context: ProcessContext,
  logger: Logger,
  profile?: string,
): Promise<void> {
  await using server = startStdioServer(
    service,
    { input: context.stdin, output: context.stdout as NodeJS.WriteStream },
    {
      view: profile === undefined ? "" : `p/${profile}`,
      identity: { ...stdioIdentity, ...(profile === undefined ? {} : { profile }) },
      sessionId: randomUUID(),
      onUnexpected: (reason) => logger.debug({ reason }, "unexpected message"),
    },
  );
  await Promise.race([server.ended, untilInterrupted(context)]);
}

/** Resolves when the signal aborts. */
export function untilInterrupted({ signal }: Pick<ProcessContext, "signal">): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
