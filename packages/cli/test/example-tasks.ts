/**
 * The tasks of the servers `jobs` (they do not end), `jobs-done` (they end at once), `jobs-large` (with a large
 * result), `jobs-cancelled` (the server cancels them) and `jobs-lost` (it forgets them) of the examples.
 */

interface TaskMessage {
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly taskId?: string; readonly task?: object };
}

const statusOf: { readonly [server: string]: string } = {
  "jobs-done": "completed",
  "jobs-large": "completed",
  "jobs-cancelled": "cancelled",
};

const lost = { error: { code: -32602, message: "Task not found" } };

/** Answers the requests of tasks. */
export class ExampleTasks {
  readonly #cancelled = new Set<string>();
  #count = 0;

  /** Returns the members of an answer; undefined for a request that is about no task, "none" for one without an answer. */
  resultFor(server: string, { method, params = {} }: TaskMessage): object | "none" | undefined {
    if (!server.startsWith("jobs")) return undefined;
    const { taskId = "", task } = params;
    if (method === "tools/call" && task !== undefined) {
      this.#count += 1;
      return { result: { task: this.#state("working", `${server}-${this.#count}`) } };
    }
    switch (method) {
      case "tasks/get":
        return server === "jobs-lost"
          ? lost
          : { result: this.#state(this.#statusOf(server, taskId), taskId) };
      case "tasks/cancel":
        this.#cancelled.add(taskId);
        return { result: this.#state("cancelled", taskId) };
      case "tasks/result":
        return this.#resultOf(server);
      default:
        return undefined;
    }
  }

  #resultOf(server: string): object | "none" {
    if (server === "jobs") return "none";
    if (server === "jobs-lost") return lost;
    if (server === "jobs-cancelled") return { error: { code: -32600, message: "the task was cancelled" } };
    const words = server === "jobs-large" ? "x".repeat(30 << 20) : "exported";
    return { result: { content: [{ type: "text", text: words }] } };
  }

  #statusOf(server: string, taskId: string): string {
    return this.#cancelled.has(taskId) ? "cancelled" : (statusOf[server] ?? "working");
  }

  #state(status: string, taskId: string): object {
    const now = new Date().toISOString();
    return { taskId, status, ttl: 60_000, pollInterval: 50, createdAt: now, lastUpdatedAt: now };
  }
}
