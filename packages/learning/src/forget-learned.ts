/** Lists and forgets what was learned, for the operator. Running gateways of the home notice it within seconds. */

import { LearnedFiles, type LearnedFilesDeps } from "./learned-files.ts";
import { type LearnedClient, type LearnedWords, wordCountOf } from "./learned-words.ts";

/** The part that is forgotten; without a client and a tool everything. */
export interface ForgetRequest {
  readonly isMeant?: (client: LearnedClient) => boolean;
  /** Id of a tool. */
  readonly tool?: string;
}

/** The forgotten part of one client. */
export interface Forgotten {
  readonly client: LearnedClient;
  readonly tools: number;
  readonly words: number;
}

/** Returns what each client of a home taught: its tools with their words. */
export async function listLearned(
  home: string,
  deps: LearnedFilesDeps,
): Promise<
  readonly { readonly client: LearnedClient; readonly tools: readonly string[]; readonly words: number }[]
> {
  const all = await new LearnedFiles(home, deps).list();
  return all.map((learned) => ({
    client: learned.client,
    tools: [...learned.tools.keys()],
    words: wordCountOf(learned),
  }));
}

/** Forgets what was learned. @throws {LearningError} `LEARNING_UNWRITABLE` */
export async function forgetLearned(
  home: string,
  { isMeant, tool }: ForgetRequest,
  deps: LearnedFilesDeps,
): Promise<readonly Forgotten[]> {
  const files = new LearnedFiles(home, deps);
  const forgotten: Forgotten[] = [];
  for (const { client, ...known } of await files.list()) {
    if (isMeant?.(client) === false || (tool !== undefined && !known.tools.has(tool))) continue;
    let before = emptyCounts;
    const left = await files.change(client, (learned) => {
      before = countsOf(learned);
      if (tool === undefined) learned.tools.clear();
      else learned.tools.delete(tool);
    });
    const after = countsOf(left);
    forgotten.push({ client, tools: before.tools - after.tools, words: before.words - after.words });
  }
  // Files that cannot be read have no client.
  if (isMeant === undefined && tool === undefined) await files.removeAll();
  return forgotten;
}

const emptyCounts = { tools: 0, words: 0 };

function countsOf(learned: LearnedWords): typeof emptyCounts {
  return { tools: learned.tools.size, words: wordCountOf(learned) };
}
