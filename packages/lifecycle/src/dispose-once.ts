/** Disposal that is safe to repeat. */

/**
 * Returns a function that calls `dispose` the first time and returns that same promise every time,
 * so that all callers wait until disposal is complete. A synchronous throw becomes a rejection.
 */
export function disposeOnce(dispose: () => void | PromiseLike<void>): () => Promise<void> {
  let disposing: Promise<void> | undefined;
  return () => {
    disposing ??= Promise.try(dispose).then(() => {});
    return disposing;
  };
}
