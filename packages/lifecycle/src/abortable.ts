/**
 * Waiting that ends on cancellation. Abort listeners are removed as soon as the
 * wait is over, so that a long-lived signal does not collect them.
 */

/**
 * Returns the result of `work`, or rejects with the reason of `signal` when that aborts first.
 *
 * `work` itself is not cancelled: its later result is dropped, and its later
 * failure is not reported as unhandled.
 *
 * @throws the reason of `signal`, also when it has aborted before the call.
 */
export async function abortable<Value>(work: PromiseLike<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  // An aborted signal emits no further event.
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    // The rejection comes first in the list: an aborted signal wins over finished work.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Resolves when `awaited` aborts, at once if it has.
 *
 * @param signal cancels the wait.
 * @throws the reason of `signal` when that aborts first.
 */
export async function whenAborted(awaited: AbortSignal, signal?: AbortSignal): Promise<void> {
  if (awaited.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const abort = (): void => resolve();
  awaited.addEventListener("abort", abort, { once: true });
  try {
    await (signal === undefined ? promise : abortable(promise, signal));
  } finally {
    awaited.removeEventListener("abort", abort);
  }
}
