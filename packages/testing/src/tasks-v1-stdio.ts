/** Entry: the server of `tasks/tasks-v1-server.ts` on stdio. */

import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createTaskProgram, createTasksV1Server } from "./tasks/tasks-v1-server.ts";

await createTasksV1Server(createTaskProgram()).connect(new StdioServerTransport());
