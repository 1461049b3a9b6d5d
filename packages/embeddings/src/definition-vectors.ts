/**
 * The vectors of the tools that search finds: fetched in the background, in batches, one request at a time, and kept
 * in the home. A failure is repeated after a wait that doubles; a request that the endpoint finds too large or invalid
 * is repeated with half of the texts, so that one definition that it does not take keeps no other one waiting.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { isCodedError } from "@toolcrib/diagnostics";
import type { ToolDefinition } from "@toolcrib/tool";
import { type Scrub, textOfDefinition } from "./embedded-text.ts";
import { EmbeddingsError } from "./embeddings-error.ts";
import type { Endpoint } from "./endpoint.ts";
import { requestLimits, vectorLimits, waits } from "./limits.ts";
import type { Problems } from "./problems.ts";
import { sha256, type VectorFile } from "./vector-file.ts";
import { cosine } from "./vectors.ts";

/** A tool that search finds. */
export interface EmbeddedTool {
  readonly id: string;
  readonly shownDefinition: ToolDefinition;
}

/** The tools of a gateway. */
export interface EmbeddedTools {
  /** Returns the tools that search finds for some client. */
  searched(): readonly EmbeddedTool[];
  /** Calls `listener` after each change of the tools. @returns a function that ends it */
  onChange(listener: () => void): () => void;
}

/** Dependencies of `DefinitionVectors`. */
export interface DefinitionVectorsDeps {
  readonly endpoint: Pick<Endpoint, "vectorsOf">;
  readonly file: Pick<VectorFile, "read" | "write">;
  readonly scrub: Scrub;
  readonly problems: Problems;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
  /** Dimensions that are asked for. */
  readonly dimensions: number | undefined;
}

/** A tool with the cosine of its vector and that of a query. */
export interface NearTool {
  readonly id: string;
  readonly similarity: number;
}

/** Tools whose texts are made in one go. */
const portion = 50;
/** Dimensions of vectors before the first one arrived. */
const assumedLength = 1536;

/** The vectors of one gateway. */
export class DefinitionVectors implements AsyncDisposable {
  readonly #deps: DefinitionVectorsDeps;
  readonly #vectors = new Map<string, Float32Array>();
  /** Digest of the text of each tool that has a vector or gets one, by id. */
  #digests = new Map<string, string>();
  /** Texts without a vector, by digest. */
  #missing = new Map<string, string>();
  #length: number | undefined;
  #tools: EmbeddedTools | undefined;
  #unsubscribe: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;
  readonly #disposed = new AbortController();
  #isRead = false;
  #isStale = true;
  #isChanged = false;
  #storedAt: number;
  #failures = 0;
  #batch: number = requestLimits.batch;

  constructor(deps: DefinitionVectorsDeps) {
    this.#deps = deps;
    this.#length = deps.dimensions;
    this.#storedAt = deps.now();
  }

  /** Numbers of tools that search finds, and of those with a vector. */
  get counts(): { readonly tools: number; readonly vectors: number } {
    let vectors = 0;
    for (const digest of this.#digests.values()) if (this.#vectors.has(digest)) vectors += 1;
    return { tools: this.#digests.size, vectors };
  }

  /** Whether any tool has a vector. */
  get hasAny(): boolean {
    return this.#vectors.size > 0 && this.#digests.size > 0;
  }

  /** Fetches and keeps the vectors of `tools` from now on. */
  follow(tools: EmbeddedTools): void {
    this.#tools = tools;
    this.#unsubscribe = tools.onChange(() => {
      this.#isStale = true;
      this.#soon(waits.changeMs);
    });
    this.#soon(waits.changeMs);
  }

  /** Returns the tools whose vectors are nearest to that of a query, the nearest first. */
  nearest(query: Float32Array, limit: number, accepts: (id: string) => boolean): readonly NearTool[] {
    const near: NearTool[] = [];
    for (const [id, digest] of this.#digests) {
      const vector = this.#vectors.get(digest);
      const similarity = vector === undefined ? undefined : cosine(query, vector);
      if (similarity !== undefined) near.push({ id, similarity });
    }
    near.sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? -1 : 1));
    const accepted: NearTool[] = [];
    for (const one of near) {
      if (accepted.length >= limit) break;
      if (accepts(one.id)) accepted.push(one);
    }
    return accepted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort();
    this.#unsubscribe?.();
    this.#cancel?.();
    await this.#running;
    await this.#store();
  }

  #soon(delayMs: number): void {
    if (this.#disposed.signal.aborted || this.#cancel !== undefined || this.#running !== undefined) return;
    this.#cancel = this.#deps.startTimer(delayMs, () => {
      this.#cancel = undefined;
      this.#running = this.#run().then((nextMs) => {
        this.#running = undefined;
        if (nextMs !== undefined) this.#soon(nextMs);
        else if (this.#isStale) this.#soon(waits.changeMs);
      });
    });
  }

  /** Makes one step. Never rejects. @returns the milliseconds until the next one; undefined when nothing is left to do */
  async #run(): Promise<number | undefined> {
    try {
      await this.#read();
      if (this.#isStale) await this.#collect();
      if (this.#missing.size > 0) await this.#fetch();
      this.#failures = 0;
      this.#deps.problems.clear("definitions");
    } catch (error) {
      if (this.#disposed.signal.aborted) return undefined;
      this.#deps.problems.add("definitions", error);
      return this.#waitAfter(error);
    }
    const isDone = this.#missing.size === 0;
    if (isDone || this.#deps.now() - this.#storedAt >= waits.storeMs) await this.#store();
    this.#reportExcess();
    return isDone ? undefined : waits.batchMs;
  }

  #waitAfter(error: unknown): number {
    const { status, retryAfterMs } = (isCodedError(error) ? error.data : undefined) ?? {};
    const isRefused = status === 400 || status === 413 || status === 422;
    if (isRefused && this.#shrink()) return waits.retryMs;
    const wait = Math.min(waits.retryMaxMs, waits.retryMs * 2 ** this.#failures);
    this.#failures = Math.min(30, this.#failures + 1);
    return Math.min(waits.retryMaxMs, Math.max(wait, typeof retryAfterMs === "number" ? retryAfterMs : 0));
  }

  /** Makes the next request smaller; a text that was refused alone waits for all others. @returns whether it is smaller */
  #shrink(): boolean {
    const [first] = this.#missing;
    const size = Math.min(this.#batch, this.#missing.size);
    if (size > 1) {
      this.#batch = Math.ceil(size / 2);
      return true;
    }
    if (first !== undefined) {
      this.#missing.delete(first[0]);
      this.#missing.set(...first);
    }
    return false;
  }

  async #read(): Promise<void> {
    if (this.#isRead) return;
    this.#isRead = true;
    try {
      for (const [digest, vector] of await this.#deps.file.read()) {
        this.#length ??= vector.length;
        if (vector.length === this.#length) this.#vectors.set(digest, vector);
      }
    } catch (error) {
      this.#deps.problems.add("files", error);
    }
  }

  /** Reads the definitions of all tools, and finds those without a vector. */
  async #collect(): Promise<void> {
    this.#isStale = false;
    const digests = new Map<string, string>();
    const missing = new Map<string, string>();
    for (const [at, { id, shownDefinition }] of (this.#tools?.searched() ?? []).entries()) {
      if (at % portion === portion - 1) await nextTurn();
      const text = textOfDefinition(shownDefinition, this.#deps.scrub);
      const digest = sha256(text);
      digests.set(id, digest);
      if (text !== "" && at < this.#maxCount && !this.#vectors.has(digest)) missing.set(digest, text);
    }
    this.#digests = digests;
    this.#missing = missing;
  }

  async #fetch(): Promise<void> {
    const batch = [...this.#missing].slice(0, this.#batch);
    const vectors = await this.#deps.endpoint.vectorsOf(
      // A secret can have become known since.
      batch.map(([, text]) => this.#deps.scrub(text)),
      {
        signal: AbortSignal.any([
          this.#disposed.signal,
          AbortSignal.timeout(requestLimits.definitionsTimeoutMs),
        ]),
        maxBytes: requestLimits.definitionsMaxBytes,
      },
    );
    this.#batch = Math.min(requestLimits.batch, this.#batch * 2);
    this.#useLength(vectors[0]!.length);
    for (const [at, [digest]] of batch.entries()) {
      this.#vectors.set(digest, vectors[at]!);
      this.#missing.delete(digest);
    }
    this.#isChanged = true;
    this.#dropUnused();
  }

  /** Vectors of another length are those of another model under the same name. */
  #useLength(length: number): void {
    const before = this.#length;
    this.#length = length;
    if (before === undefined || before === length || this.#vectors.size === 0) return;
    this.#vectors.clear();
    this.#isStale = true;
    throw new EmbeddingsError(
      "EMBEDDINGS_ANSWER_INVALID",
      `The embeddings endpoint sends vectors of ${length} dimensions instead of ${before}: all definitions are fetched again`,
    );
  }

  get #maxCount(): number {
    const bytes = (this.#length ?? assumedLength) * Float32Array.BYTES_PER_ELEMENT;
    return Math.min(vectorLimits.vectors, Math.floor(vectorLimits.bytes / bytes));
  }

  #dropUnused(): void {
    if (this.#vectors.size <= this.#maxCount) return;
    const used = new Set(this.#digests.values());
    for (const digest of this.#vectors.keys()) {
      if (this.#vectors.size <= this.#maxCount) return;
      if (!used.has(digest)) this.#vectors.delete(digest);
    }
  }

  #reportExcess(): void {
    const excess = this.#digests.size - this.#maxCount;
    if (excess <= 0) return;
    const message = `${excess} of ${this.#digests.size} definitions have no vector: ${this.#maxCount} are kept`;
    this.#deps.problems.add("definitions", new EmbeddingsError("EMBEDDINGS_TOO_MANY", message));
  }

  async #store(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#storedAt = this.#deps.now();
    try {
      await this.#deps.file.write(this.#vectors, this.#maxCount);
      this.#deps.problems.clear("files");
    } catch (error) {
      this.#deps.problems.add("files", error);
    }
  }
}
