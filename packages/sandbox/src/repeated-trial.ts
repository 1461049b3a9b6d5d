/**
 * A trial with real processes that is made once where it has a result. Where it has none, as on a busy machine, it is
 * made again when it is needed after a pause, with more time. Both are doubled each time, up to a limit.
 */

/** The first time limit and the first pause, in milliseconds. */
export interface TrialTimes {
  /** Doubled for each further trial, up to 60,000. */
  readonly timeoutMs: number;
  /** Doubled each time, up to 600,000. */
  readonly pauseMs: number;
}

/** Milliseconds of one trial at most. */
const trialMaxMs = 60_000;
/** Milliseconds between two trials at most. */
const pauseMaxMs = 600_000;

export class RepeatedTrial<Result> {
  readonly #attempt: (timeoutMs: number) => Promise<Result>;
  readonly #hasNoResult: (result: Result) => boolean;
  readonly #times: TrialTimes;
  #last: Promise<Result> | undefined;
  /** Number of trials so far. */
  #count = 0;

  /** @param hasNoResult whether a trial says nothing about this machine */
  constructor(
    attempt: (timeoutMs: number) => Promise<Result>,
    hasNoResult: (result: Result) => boolean,
    times: TrialTimes,
  ) {
    this.#attempt = attempt;
    this.#hasNoResult = hasNoResult;
    this.#times = times;
  }

  /** Returns the result of the last trial. Makes one where there is none yet, or its pause is over. */
  result(): Promise<Result> {
    this.#last ??= this.#try();
    return this.#last;
  }

  #try(): Promise<Result> {
    const factor = 2 ** this.#count;
    this.#count += 1;
    const result = this.#attempt(Math.min(this.#times.timeoutMs * factor, trialMaxMs));
    result.then(
      (value) => {
        if (!this.#hasNoResult(value)) return;
        const pauseMs = Math.min(this.#times.pauseMs * factor, pauseMaxMs);
        setTimeout(() => {
          this.#last = undefined;
        }, pauseMs).unref();
      },
      () => {
        this.#last = undefined;
      },
    );
    return result;
  }
}
