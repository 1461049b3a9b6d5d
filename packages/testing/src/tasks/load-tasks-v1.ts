/**
 * Loads the server with tasks, and with it the SDK of the first generation. Every process of tests loads the entry point
 * of this package, and few start that server: it would double the time that the entry point takes to load.
 */
export async function loadTasksV1() {
  return await import("./tasks-v1-server.ts");
}
