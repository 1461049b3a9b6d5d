/** A timer as an argument: this package, and most others, start none of their own. Types only. */

/**
 * Runs `callback` once after `delayMs` milliseconds.
 *
 * @returns a function that cancels the timer; without effect once it has fired.
 */
export type StartTimer = (delayMs: number, callback: () => void) => () => void;
