/**
 * Search by meaning: the vectors of the definitions that search finds, and of queries, from an endpoint of the
 * operator. Any failure leaves search by words as it is.
 *
 * It decides about no access: who calls `nearest` says which tools may be in the result. What is sent are the texts of
 * definitions and queries, without known secrets.
 */

import type { Logger } from "@toolcrib/diagnostics";
import { createRecordedEgress } from "@toolcrib/egress";
import { SecretCache, type SecretRef, secretNameOf } from "@toolcrib/secrets";
import { type Identity, identityKey } from "@toolcrib/tool";
import { DefinitionVectors, type EmbeddedTools, type NearTool } from "./definition-vectors.ts";
import { textOfQuery } from "./embedded-text.ts";
import { Endpoint, type EndpointSettings } from "./endpoint.ts";
import { Problems } from "./problems.ts";
import { QueryVectors } from "./query-vectors.ts";
import { VectorFile } from "./vector-file.ts";

/** The section `search.embeddings`. */
export interface EmbeddingsSettings extends EndpointSettings {
  /** The secret that authenticates the requests. @default none */
  readonly secret?: SecretRef | undefined;
  /** Milliseconds that a search waits for the vector of its query. */
  readonly timeoutMs: number;
}

type EgressContext = Parameters<typeof createRecordedEgress>[0];

/** The parts of the gateway that embeddings use. */
export interface EmbeddingsContext extends EgressContext {
  readonly scrubber: EgressContext["scrubber"] & { learn(source: string, value: string): void };
  /** Reads secrets. */
  readonly resolver: ConstructorParameters<typeof SecretCache>[0]["resolver"];
  readonly logger: Logger;
  /** Calls back once after a delay, unless it is cancelled. @default a timer that does not keep the process alive */
  readonly startTimer?: (delayMs: number, callback: () => void) => () => void;
}

/** The meaning of a query. */
export interface QueryMeaning {
  /** Returns the accepted tools that mean the most similar, the most similar first. */
  nearest(limit: number, accepts: (id: string) => boolean): readonly NearTool[];
}

/** The state of embeddings. */
export interface EmbeddingsStatus {
  readonly url: string;
  readonly model: string;
  /** Number of tools that search finds, and of those with a vector. */
  readonly tools: number;
  readonly vectors: number;
  /** Why searches go by words alone, or some tools have no vector. */
  readonly reason?: string;
}

/** The embeddings of one gateway. */
export class SearchEmbeddings implements AsyncDisposable {
  readonly #settings: EmbeddingsSettings;
  readonly #scrub: (text: string) => string;
  readonly #resources = new AsyncDisposableStack();
  readonly #problems: Problems;
  readonly #definitions: DefinitionVectors;
  readonly #queries: QueryVectors;

  /** Sends nothing before `follow`. */
  constructor(settings: EmbeddingsSettings, context: EmbeddingsContext) {
    const { home, now, randomBytes, scrubber, logger, resolver, startTimer = unrefTimer } = context;
    this.#settings = settings;
    this.#scrub = (text) => scrubber.text(text);
    this.#problems = new Problems(logger, this.#scrub);
    const egress = this.#resources.use(createRecordedEgress(context, new Map()));
    const { secret: ref } = settings;
    const learn = (value: string) => scrubber.learn("search.embeddings", value);
    const secret = ref && {
      name: secretNameOf(ref),
      // Its path is complete.
      read: new SecretCache({ resolver, now }).reader(ref, "", learn),
    };
    const endpoint = new Endpoint(settings, { egress, randomBytes, secret });
    const shared = { endpoint, problems: this.#problems, now };
    this.#definitions = this.#resources.use(
      new DefinitionVectors({
        ...shared,
        file: new VectorFile(home, settings, randomBytes),
        scrub: this.#scrub,
        startTimer,
        dimensions: settings.dimensions,
      }),
    );
    this.#queries = this.#resources.use(new QueryVectors({ ...shared, timeoutMs: settings.timeoutMs }));
  }

  /** Fetches and keeps the vectors of `tools` from now on. */
  follow(tools: EmbeddedTools): void {
    this.#definitions.follow(tools);
  }

  /** Returns what a query of a client means; undefined where search goes by words alone. Never rejects. */
  meaningOf(identity: Identity, query: string): Promise<QueryMeaning | undefined> | undefined {
    if (!this.#definitions.hasAny) return undefined;
    const text = textOfQuery(query, this.#scrub);
    return text === ""
      ? undefined
      : this.#queries
          .vectorOf(identityKey(identity), text)
          ?.then((vector) => vector && { nearest: (...how) => this.#definitions.nearest(vector, ...how) });
  }

  status(): EmbeddingsStatus {
    const { url, model } = this.#settings;
    const { reason } = this.#problems;
    return { url, model, ...this.#definitions.counts, ...(reason === undefined ? {} : { reason }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

function unrefTimer(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
}
