/** Waiting for something until somebody loses interest. */

/** `work`, or the signal's reason when it aborts first; `work` goes on then. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  if (signal.aborted) {
    // Nobody is left to hear of its failure.
    work.catch(() => {});
    throw signal.reason;
  }
  let aborted: (() => void) | undefined;
  const abortion = new Promise<never>((_resolve, reject) => {
    aborted = () => reject(signal.reason);
    signal.addEventListener("abort", aborted, { once: true });
  });
  try {
    return await Promise.race([work, abortion]);
  } finally {
    if (aborted !== undefined) signal.removeEventListener("abort", aborted);
  }
}

/** Resolves when `closed` aborts. @throws the signal's reason when that aborts first */
export async function untilClosed(closed: AbortSignal, signal: AbortSignal): Promise<void> {
  if (closed.aborted) return;
  let ended: (() => void) | undefined;
  const closing = new Promise<void>((resolve) => {
    ended = resolve;
    closed.addEventListener("abort", ended, { once: true });
  });
  try {
    await untilAborted(closing, signal);
  } finally {
    if (ended !== undefined) closed.removeEventListener("abort", ended);
  }
}
