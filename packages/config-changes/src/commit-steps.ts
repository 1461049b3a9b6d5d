/**
 * Puts another configuration in force, step by step. The first step can be taken back, and then nothing has changed. A
 * later one that fails stops no other: a change that is left in the middle would be neither configuration. What failed
 * is reported, and never counts as applied.
 */

import { messageOf } from "@toolcrib/diagnostics";

/** The first step, and how it is taken back. */
export interface FirstStep {
  take(): void;
  /** Puts what was in force before in its place again. */
  takeBack(): void;
}

/** The first step failed, and could not be taken back: what is in force is neither configuration as a whole. */
export class PartlyInForceError extends Error {
  override readonly name = "PartlyInForceError";
}

/** Reasons of failed steps that are kept. */
const reasonsMaxCount = 10;

/** Takes one step, and keeps the reason if it fails. Never throws. @returns whether the step did not fail */
export type TakeStep = (step: () => void) => boolean;

/**
 * Takes the steps of a change.
 *
 * @param rest takes the steps after the first
 * @returns why steps of `rest` failed; empty for a change that is in force as a whole
 * @throws what the first step throws; nothing has changed then
 * @throws {PartlyInForceError}
 */
export function commitSteps(first: FirstStep, rest: (take: TakeStep) => void): readonly string[] {
  try {
    first.take();
  } catch (error) {
    takeBack(first, error);
    throw error;
  }
  const reasons: string[] = [];
  const keep = (error: unknown) => {
    if (reasons.length < reasonsMaxCount) reasons.push(messageOf(error));
  };
  const take: TakeStep = (step) => {
    try {
      step();
      return true;
    } catch (error) {
      keep(error);
      return false;
    }
  };
  take(() => rest(take));
  return reasons;
}

function takeBack(first: FirstStep, cause: unknown): void {
  try {
    first.takeBack();
  } catch (error) {
    throw new PartlyInForceError(
      `a part of the changed configuration is in force, and could not be taken back: ${messageOf(cause)}; ${messageOf(error)}; restart the gateway`,
      { cause },
    );
  }
}
