/** The problems at the moment, for the status and, once for each finding, for the log. */

import { isCodedError, type Logger, messageOf } from "@toolcrib/diagnostics";

/** The parts that can fail by themselves. */
export type Part = "definitions" | "queries" | "files";

/** Different findings that are logged. */
const loggedMaxCount = 100;

/** The findings of one gateway. */
export class Problems {
  readonly #logger: Pick<Logger, "warn">;
  readonly #scrub: (text: string) => string;
  readonly #current = new Map<Part, string>();
  readonly #logged = new Set<string>();

  constructor(logger: Pick<Logger, "warn">, scrub: (text: string) => string) {
    this.#logger = logger;
    this.#scrub = scrub;
  }

  /** The finding of the first part that does not work. */
  get reason(): string | undefined {
    return this.#current.get("definitions") ?? this.#current.get("queries") ?? this.#current.get("files");
  }

  /** A part failed. */
  add(part: Part, error: unknown): void {
    const hint = isCodedError(error) ? error.hint : undefined;
    const reason = this.#scrub(hint === undefined ? messageOf(error) : `${messageOf(error)}; ${hint}`);
    this.#current.set(part, reason);
    // Definitions and queries fail for the same reasons: one finding is enough.
    if (this.#logged.has(reason) || this.#logged.size >= loggedMaxCount) return;
    this.#logged.add(reason);
    const code = isCodedError(error) ? error.code : undefined;
    this.#logger.warn({ code, reason }, "search goes by words: embeddings do not work");
  }

  /** A part works again. */
  clear(part: Part): void {
    this.#current.delete(part);
  }
}
