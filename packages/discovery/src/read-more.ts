/**
 * Long results in parts. A result whose texts cost more tokens than the budget of its endpoint is cut at a boundary
 * of its text; the rest is kept for its client for a while, and `read_more` returns it part by part. The texts of
 * all parts, one after the other, are the texts of the result.
 *
 * - Images, audio, links and binary resources stay in the first part. Texts of resources are cut as other texts.
 * - Structured content above the budget follows the texts as one more text, unless one of these is the same JSON.
 *   Clients check that of a tool with an output schema against the schema, so the first part has the beginning of
 *   it, shortened within the schema. Where that is not possible it has none, and is an error: clients check no error.
 *
 * What is kept was prepared for its client before: without secrets, and with the labels of its origin, which each
 * part has, too. It is bounded for each client and for all together, lives in memory only, and a cursor is of no use
 * to any other client. This file authorizes nothing: its caller asks again who may read.
 */

import { isJsonObject, isSameJson, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import {
  type ContentBlock,
  type Identity,
  identityKey,
  metaToolNames,
  type ToolDefinition,
  type ToolId,
  type ToolResult,
} from "@toolcrib/tool";
import { DiscoveryError } from "./discovery-error.ts";
import { type OutputCheck, shortenStructured } from "./short-structured.ts";
import { endOfTokens, estimateTokens } from "./token-estimate.ts";

/** The definition of the tool that reads the parts. */
export const readMoreDefinition: ToolDefinition = {
  name: metaToolNames.readMore,
  title: "Read more of a result",
  description:
    "The next part of a result that was cut. The end of each part gives the cursor of the next one.",
  inputSchema: {
    type: "object",
    properties: {
      cursor: {
        type: "string",
        minLength: 1,
        maxLength: 200,
        description: "As the end of the part before gives it",
      },
    },
    required: ["cursor"],
    additionalProperties: false,
  },
  annotations: {
    title: "Read more of a result",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
};

/** Limits of what is kept. */
export interface LongResultsLimits {
  /** Results of one client. @default 16 */
  readonly maxResultsPerClient?: number;
  /** Characters of the results of one client. @default 8,388,608 */
  readonly maxLengthPerClient?: number;
  /** Characters of the results of all clients. @default 33,554,432 */
  readonly maxLength?: number;
  /** Results of all clients. @default 1000 */
  readonly maxResults?: number;
  /** Milliseconds after the last reading. @default 600,000 */
  readonly idleMs?: number;
  /** Milliseconds after the call. @default 3,600,000 */
  readonly lifetimeMs?: number;
}

/** Dependencies of `LongResults`. */
export interface LongResultsDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** The limits by which a result is cut. */
export interface CutOptions {
  readonly tool: ToolId;
  /** Tokens of its first part. */
  readonly budget: number;
  /** Undefined where the client checks no structured content. */
  readonly output: OutputCheck | undefined;
}

interface KeptResult {
  readonly id: string;
  readonly owner: string;
  /** The profile of the endpoint at which it was called. */
  readonly profile: string | undefined;
  readonly tool: ToolId;
  readonly texts: readonly string[];
  readonly length: number;
  /** Estimated tokens of all texts. */
  readonly tokens: number;
  /** `_meta` of each part: the labels of its origin. */
  readonly meta: JsonObject | undefined;
  readonly createdAt: number;
  usedAt: number;
}

/** A place in the texts of a result. */
interface Position {
  readonly text: number;
  readonly at: number;
}

/** The long results of all clients. */
export class LongResults {
  readonly #deps: LongResultsDeps;
  readonly #limits: Required<LongResultsLimits>;
  /** Oldest first. */
  readonly #kept = new Map<string, KeptResult>();
  #cutTokens = 0;

  constructor(deps: LongResultsDeps, limits: LongResultsLimits = {}) {
    this.#deps = deps;
    this.#limits = {
      maxResultsPerClient: 16,
      maxLengthPerClient: 8 * 1024 ** 2,
      maxLength: 32 * 1024 ** 2,
      maxResults: 1000,
      idleMs: 600_000,
      lifetimeMs: 3_600_000,
      ...limits,
    };
  }

  /** Estimated tokens that were cut off so far, less those that were read later. */
  get cutTokens(): number {
    return Math.max(0, this.#cutTokens);
  }

  /** Returns the first part of a result; the result itself where it fits into the budget. */
  cut(identity: Identity, result: ToolResult, { tool, budget, output }: CutOptions): ToolResult {
    const { content, structuredContent } = result;
    const texts = content.map(textOf);
    // A text has no more tokens than characters: most results end here.
    const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
    if (length <= budget && (json?.length ?? 0) <= budget) return result;
    const own = texts.reduce((sum, text) => sum + estimateTokens(text ?? ""), 0);
    const ofJson = json === undefined ? 0 : estimateTokens(json);
    if (own <= budget && ofJson <= budget) return result;
    // A client does not check an error.
    const check = result.isError === true ? undefined : output;
    const isWhole = check !== undefined && ofJson <= budget;
    const isRead =
      structuredContent === undefined || isWhole || texts.some((text) => isJsonOf(text, structuredContent));
    const all = [...texts.filter((text) => text !== undefined), ...(isRead ? [] : [json as string])];
    const end = positionAfter(all, { text: 0, at: 0 }, budget);
    const tokens = own + (isRead ? 0 : ofJson);
    this.#cutTokens += Math.max(0, tokens - budget);
    const id = this.#keep(identity, result, { tool, texts: all, tokens });
    const notice = noticeOf(id, { texts: all, tokens }, end);
    const blocks = firstPart(content, all, end);
    if (isWhole) return { ...result, content: [...blocks, notice] };
    const { structuredContent: _whole, ...rest } = result;
    const first = { ...rest, content: [...blocks, notice] };
    if (check === undefined || structuredContent === undefined) return first;
    return withStructured(first, shortenStructured(structuredContent, budget, check));
  }

  /**
   * Returns the part that `cursor` names.
   *
   * @param mayRead whether the client may still use the tool of the result
   * @throws {DiscoveryError} `CURSOR_UNKNOWN`
   */
  read(identity: Identity, cursor: string, budget: number, mayRead: (tool: ToolId) => boolean): ToolResult {
    this.#forgetOld();
    const [, id = "", text = "", at = ""] = /^([A-Za-z0-9_-]{22})\.(\d{1,6})\.(\d{1,9})$/.exec(cursor) ?? [];
    const kept = this.#kept.get(id);
    const start = { text: Number(text), at: Number(at) };
    const isReadable =
      kept?.owner === identityKey(identity) &&
      kept.profile === identity.profile &&
      start.at < (kept.texts[start.text]?.length ?? 0) &&
      mayRead(kept.tool);
    if (!isReadable) {
      throw new DiscoveryError("CURSOR_UNKNOWN", "The cursor names no part of a result", {
        hint: "copy it from the end of the part before; parts are kept for ten minutes after the last reading: call the tool again for a result that is gone",
      });
    }
    kept.usedAt = this.#deps.now();
    const end = positionAfter(kept.texts, start, budget);
    const parts = partsBetween(kept.texts, start, end);
    this.#cutTokens -= parts.reduce((sum, part) => sum + estimateTokens(part), 0);
    const content = parts.map((part) => ({ type: "text", text: part }));
    const notice = noticeOf(kept.id, kept, end);
    return {
      content: [...content, notice],
      ...(kept.meta === undefined ? undefined : { _meta: kept.meta }),
    };
  }

  /** Keeps a result. @returns its id; undefined where it is too long */
  #keep(
    identity: Identity,
    { _meta }: ToolResult,
    { tool, texts, tokens }: Pick<KeptResult, "tool" | "texts" | "tokens">,
  ): string | undefined {
    const meta = labelsIn(_meta);
    const ofMeta = meta === undefined ? 0 : JSON.stringify(meta).length;
    const length = texts.reduce((sum, text) => sum + text.length, ofMeta);
    const { maxLengthPerClient, maxLength } = this.#limits;
    if (length > Math.min(maxLengthPerClient, maxLength)) return undefined;
    this.#forgetOld();
    const owner = identityKey(identity);
    this.#makeRoom(owner, length);
    const id = Buffer.from(this.#deps.randomBytes(16)).toString("base64url");
    const now = this.#deps.now();
    this.#kept.set(id, {
      ...{ id, owner, profile: identity.profile, tool, texts, length, tokens },
      meta,
      createdAt: now,
      usedAt: now,
    });
    return id;
  }

  #forgetOld(): void {
    const now = this.#deps.now();
    const { idleMs, lifetimeMs } = this.#limits;
    for (const [id, { usedAt, createdAt }] of this.#kept) {
      if (now - usedAt > idleMs || now - createdAt > lifetimeMs) this.#kept.delete(id);
    }
  }

  /** Forgets the oldest results of the client, and then those of the clients that keep the most. */
  #makeRoom(owner: string, length: number): void {
    const { maxResultsPerClient, maxLengthPerClient, maxLength, maxResults } = this.#limits;
    const own = [...this.#kept.values()].filter((kept) => kept.owner === owner);
    let ownLength = lengthOf(own);
    while (own.length >= maxResultsPerClient || ownLength + length > maxLengthPerClient) {
      const oldest = own.shift();
      if (oldest === undefined) break;
      ownLength -= oldest.length;
      this.#kept.delete(oldest.id);
    }
    while (this.#kept.size >= maxResults || lengthOf(this.#kept.values()) + length > maxLength) {
      const owners = Map.groupBy(this.#kept.values(), (kept) => kept.owner);
      const largest = [...owners.values()].sort((a, b) => lengthOf(b) - lengthOf(a))[0]?.[0];
      if (largest === undefined) break;
      this.#kept.delete(largest.id);
    }
  }
}

/** Returns a first part with structured content that was shortened. @param structured undefined where that is not possible */
function withStructured(first: ToolResult, structured: JsonValue | undefined): ToolResult {
  const marked = (state: string) => ({ ...first._meta, "toolcrib/structuredContent": state });
  if (structured !== undefined)
    return { ...first, structuredContent: structured, _meta: marked("shortened") };
  const note = {
    type: "text",
    text: "[The call succeeded: do not repeat it. Its structured content is too long, and no beginning of it fits the output schema, so it is left out, and this result is marked as an error for the client]",
  };
  return { ...first, content: [note, ...first.content], isError: true, _meta: marked("left out") };
}

/** The text at the end of a part: how much follows, about, and how to read it. @param id undefined where the rest is not kept */
function noticeOf(
  id: string | undefined,
  { texts, tokens }: Pick<KeptResult, "texts" | "tokens">,
  end: Position,
): ContentBlock {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const rest = texts.slice(end.text).reduce((sum, text) => sum + text.length, 0) - end.at;
  if (rest <= 0) return { type: "text", text: "[This is the end of the result]" };
  const follows = `about ${Math.max(1, Math.round((tokens * rest) / length))} more tokens follow`;
  if (id === undefined) {
    const text = `[The result is cut here: ${follows}, which are too long to keep. Ask the tool for less]`;
    return { type: "text", text };
  }
  const cursor = JSON.stringify({ cursor: `${id}.${end.text}.${end.at}` });
  return {
    type: "text",
    text: `[The result is cut here: ${follows}. Read on with ${metaToolNames.readMore}(${cursor})]`,
  };
}

/** The members of `_meta` that are Toolcrib's own. Those of the server came with the first part, and can be long. */
function labelsIn(meta: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  const labels = Object.entries(meta).filter(([name]) => name.startsWith("toolcrib/"));
  return labels.length === 0 ? undefined : Object.fromEntries(labels);
}

function lengthOf(results: Iterable<KeptResult>): number {
  let sum = 0;
  for (const { length } of results) sum += length;
  return sum;
}

/** Returns the text of a block that can be cut. */
function textOf(block: ContentBlock): string | undefined {
  if (block.type === "text") return typeof block["text"] === "string" ? block["text"] : undefined;
  const { resource } = block;
  if (block.type !== "resource" || !isJsonObject(resource)) return undefined;
  return typeof resource["text"] === "string" ? resource["text"] : undefined;
}

/** Whether a text is the same JSON as a value. */
function isJsonOf(text: string | undefined, value: JsonValue): boolean {
  if (text === undefined || !/^\s*[[{"\d-tfn]/.test(text)) return false;
  try {
    return isSameJson(parseJson(text), value);
  } catch {
    return false;
  }
}

/** The blocks of the first part: those without a text, and of the texts what is before `end`. */
function firstPart(
  content: readonly ContentBlock[],
  texts: readonly string[],
  end: Position,
): readonly ContentBlock[] {
  let index = -1;
  const blocks = content.flatMap((block) => {
    if (textOf(block) === undefined) return [block];
    index += 1;
    if (index < end.text) return [block];
    const text = index === end.text ? (texts[index] ?? "").slice(0, end.at) : "";
    return text === "" ? [] : [withText(block, text)];
  });
  // The JSON of structured content has no block of its own.
  const more = partsBetween(texts, { text: index + 1, at: 0 }, end);
  return [...blocks, ...more.map((text) => ({ type: "text", text }))];
}

function withText(block: ContentBlock, text: string): ContentBlock {
  const { resource } = block;
  return isJsonObject(resource) ? { ...block, resource: { ...resource, text } } : { ...block, text };
}

/** Returns where a part ends that starts at `start` and has at most `budget` tokens. */
function positionAfter(texts: readonly string[], start: Position, budget: number): Position {
  let left = budget;
  let { text: index, at } = start;
  for (; index < texts.length; index += 1, at = 0) {
    const text = texts[index] as string;
    const end = left > 0 ? endOfTokens(text, at, left) : at;
    if (end < text.length) return { text: index, at: end === at ? at : boundaryBefore(text, at, end) };
    left -= estimateTokens(text.slice(at));
  }
  return { text: texts.length, at: 0 };
}

/** The boundaries at which a text is cut, the best first. */
const boundaries = ["\n\n", "\n", ". ", " "];
/** The share of a part that may be given up for a boundary. */
const boundaryShare = 0.2;

/** Returns the last good place to cut a text before `end`. */
function boundaryBefore(text: string, start: number, end: number): number {
  const least = end - Math.floor((end - start) * boundaryShare);
  for (const boundary of boundaries) {
    const found = text.lastIndexOf(boundary, end - boundary.length) + boundary.length;
    if (found > least && found > start) return found;
  }
  // A pair of surrogates stays together.
  const code = text.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff && end - 1 > start ? end - 1 : end;
}

function partsBetween(texts: readonly string[], start: Position, end: Position): string[] {
  const parts: string[] = [];
  for (let index = start.text; index < texts.length && index <= end.text; index += 1) {
    const text = texts[index] as string;
    const part = text.slice(index === start.text ? start.at : 0, index === end.text ? end.at : text.length);
    if (part !== "") parts.push(part);
  }
  return parts;
}
