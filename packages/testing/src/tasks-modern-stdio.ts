/** Entry: the server of `tasks/tasks-modern-server.ts` on stdio. */

import { serveModernTasksOnStdio } from "./tasks/tasks-modern-server.ts";

await serveModernTasksOnStdio(process.stdin, (line) => process.stdout.write(line));
