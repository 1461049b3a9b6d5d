/** Repeats a task that reads the home. */

/**
 * Runs `task` each `everyMs` milliseconds, except while an earlier run of it is in flight.
 *
 * @param task never rejects
 * @returns ends it, and resolves when the run in flight has ended
 */
export function poll(everyMs: number, task: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    running ??= task().finally(() => {
      running = undefined;
    });
  }, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
