// Servers on the first generation of the SDK. Apart from the other tools, because few tests load the SDK's servers.
export { serveV1 } from "./serve-v1.ts";
export { createTaskProgram, createTasksV1Server } from "./tasks-v1-server.ts";
