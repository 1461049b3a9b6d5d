/**
 * The words that one client taught, by tool: pure data, the changes of it, and its form in a file.
 *
 * A word weighs as many uses as taught it, each half as much after `halfLifeDays`. The weight is stored as of a day,
 * so that the passing of time changes no file.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import { dayMs, wordLimits } from "./limits.ts";
import { isLearned } from "./words-of-query.ts";

/** A client, as files and people name it. */
export type LearnedClient = Pick<Identity, "issuer" | "subject" | "name">;

/** A word of a tool. */
interface LearnedWord {
  /** As of `day`. */
  readonly weight: number;
  /** Days since the epoch. */
  readonly day: number;
}

/** Words that one client taught. */
export interface LearnedWords {
  readonly client: LearnedClient;
  /** By id; the tool that was used last comes last. */
  readonly tools: Map<string, Map<string, LearnedWord>>;
}

/** A use of a tool after a search. */
export interface TaughtUse {
  readonly tool: string;
  readonly words: readonly string[];
}

const formatVersion = 1;

/** Returns the day of a time in milliseconds since the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** Returns what a word weighs on `day`. */
export function weightOn(day: number, word: LearnedWord): number {
  return word.weight * 2 ** (-Math.max(0, day - word.day) / wordLimits.halfLifeDays);
}

/** Returns the number of words of all tools. */
export function wordCountOf({ tools }: LearnedWords): number {
  let count = 0;
  for (const words of tools.values()) count += words.size;
  return count;
}

/** Adds uses, and drops what the limits of one client do not allow. */
export function teach(learned: LearnedWords, uses: readonly TaughtUse[], day: number): void {
  const { tools } = learned;
  for (const { tool, words } of uses) {
    if (words.length === 0 || tool.length > wordLimits.idMaxChars) continue;
    const known = tools.get(tool) ?? new Map<string, LearnedWord>();
    tools.delete(tool);
    tools.set(tool, known);
    for (const word of words) {
      const before = known.get(word);
      const weight = Math.min(wordLimits.weightMax, 1 + (before === undefined ? 0 : weightOn(day, before)));
      known.delete(word);
      known.set(word, { weight, day });
    }
    dropLightest(known, wordLimits.wordsPerTool, day);
  }
  trim(learned, wordLimits.wordsPerClient);
  for (const tool of tools.keys()) {
    if (tools.size <= wordLimits.toolsPerClient) break;
    tools.delete(tool);
  }
}

/** Drops the tools that were used least recently until there are at most `max` words. */
export function trim(learned: LearnedWords, max: number): void {
  let count = wordCountOf(learned);
  for (const [tool, words] of learned.tools) {
    if (count <= max) return;
    count -= words.size;
    learned.tools.delete(tool);
  }
}

/** Drops words that weigh next to nothing, and tools without words. @returns whether any was dropped */
export function fade({ tools }: LearnedWords, day: number): boolean {
  let hasChanged = false;
  for (const [tool, words] of tools) {
    for (const [word, learned] of words) {
      if (weightOn(day, learned) >= wordLimits.weightMin) continue;
      words.delete(word);
      hasChanged = true;
    }
    if (words.size === 0) tools.delete(tool);
  }
  return hasChanged;
}

function dropLightest(words: Map<string, LearnedWord>, max: number, day: number): void {
  if (words.size <= max) return;
  // Of equal weights the older word goes: the order of the map is that of the last uses.
  const byWeight = [...words].sort(([, a], [, b]) => weightOn(day, a) - weightOn(day, b));
  for (const [word] of byWeight.slice(0, words.size - max)) words.delete(word);
}

/** Returns the text of the file of a client. */
export function formatLearned({ client, tools }: LearnedWords): string {
  const { issuer, subject, name } = client;
  const shown = [...tools].map(([tool, words]) => ({
    tool,
    words: Object.fromEntries(
      [...words].map(([word, { weight, day }]) => [word, [Math.round(weight * 1000) / 1000, day]]),
    ),
  }));
  return `${JSON.stringify({ format: formatVersion, client: { issuer, subject, name }, tools: shown })}\n`;
}

/** Returns what a text of `formatLearned` says; undefined for another text. */
export function parseLearned(text: string): LearnedWords | undefined {
  const document = parseObject(text);
  const client = clientIn(document?.["client"]);
  const list = document?.["tools"];
  if (document?.["format"] !== formatVersion || client === undefined || !Array.isArray(list))
    return undefined;
  const tools: LearnedWords["tools"] = new Map();
  for (const item of list.slice(0, wordLimits.toolsPerClient)) {
    if (!isJsonObject(item)) return undefined;
    const { tool, words } = item;
    if (typeof tool !== "string" || tool.length > wordLimits.idMaxChars || !isJsonObject(words))
      return undefined;
    const parsed = new Map<string, LearnedWord>();
    for (const [word, value] of Object.entries(words).slice(0, wordLimits.wordsPerTool)) {
      const [weight, day] = Array.isArray(value) ? value : [];
      if (typeof weight !== "number" || !(weight > 0) || !Number.isInteger(day) || !isLearned(word))
        return undefined;
      parsed.set(word, { weight: Math.min(weight, wordLimits.weightMax), day: day as number });
    }
    tools.set(tool, parsed);
  }
  return { client, tools };
}

function clientIn(value: unknown): LearnedClient | undefined {
  if (!isJsonObject(value)) return undefined;
  const { issuer, subject, name } = value;
  if (typeof issuer !== "string" || typeof subject !== "string" || typeof name !== "string") return undefined;
  return { issuer, subject, name };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
