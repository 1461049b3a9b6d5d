/**
 * Approves definitions of a trial. An approval names definitions, and a tool can have the name of a prompt or of the
 * instructions: where one of them is left waiting, all of that name wait.
 */

import { localIdentity } from "@toolcrib/tool";
import type { PassedTrial, TriedDefinition } from "./trial.ts";

/**
 * Approves the waiting definitions of `trial`, except those that `isLeft`.
 *
 * @returns the names of those that were approved
 */
export async function approveShown(
  { definitions, contacted, digest }: PassedTrial,
  id: string,
  isLeft: (definition: TriedDefinition) => boolean,
): Promise<readonly string[]> {
  const waiting = definitions.filter((one) => one.waiting !== undefined);
  const left = new Set(waiting.filter(isLeft).map(({ name }) => name));
  const names = waiting.map(({ name }) => name).filter((name) => !left.has(name));
  if (names.length === 0) return [];
  return await contacted.gateway.approvals.approveDefinitions(id, digest, localIdentity("cli", "cli"), names);
}
