/** MCP with the one client that started this process, over standard input and output, for as long as it stays. */

import { randomUUID } from "node:crypto";
import type { Logger } from "@toolcrib/diagnostics";
import { type McpService, startStdioServer } from "@toolcrib/mcp";
import { localIdentity } from "@toolcrib/tool";
import type { World } from "../world.ts";

/** Serve `service` until the client is gone or the process is asked to stop. */
export async function serveStdio(service: McpService, world: World, logger: Logger): Promise<void> {
  await using server = startStdioServer(
    service,
    { input: world.stdin, output: world.stdout as NodeJS.WriteStream },
    {
      view: "",
      identity: localIdentity("stdio", "stdio"),
      sessionId: randomUUID(),
      onStray: (reason) => logger.debug({ reason }, "message fits nowhere"),
    },
  );
  await Promise.race([server.ended, untilInterrupted(world)]);
}

/** Resolves when the process is asked to stop. */
export function untilInterrupted({ interrupted }: Pick<World, "interrupted">): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    else interrupted.addEventListener("abort", () => resolve(), { once: true });
  });
}
