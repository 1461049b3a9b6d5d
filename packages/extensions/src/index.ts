// For other packages here.
export { declaredFor } from "./declared.ts";
export { openTaskFiles, type TaskFiles } from "./tasks/task-files.ts";
export {
  TaskRequests,
  taskMethodPrefix,
  toTaskRequest,
} from "./tasks/task-requests.ts";
export { type TaskOrigin, Tasks } from "./tasks/tasks.ts";
