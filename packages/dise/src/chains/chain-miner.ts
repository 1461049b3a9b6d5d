/**
 * Chains that the audit trail suggests (MCPKG document, sections 11.6 and 12): sequences of calls whose results
 * became arguments of later ones, as packages. Takes records one by one and keeps what the limits allow.
 * It sees fingerprints and places, never a value, calls nothing and writes nothing.
 */

import { type ChainSuggestion, toChain, type UnmappedSequence } from "./chain-manifest.ts";
import { findSequences } from "./find-sequences.ts";
import { strongFlowsOf } from "./strong-flows.ts";
import { TrailCalls, type TrailLimits } from "./trail-calls.ts";

/** Options of `ChainMiner`. */
export interface ChainMinerOptions {
  /** Fewest runs of a sequence. @default 5 */
  readonly supportMin?: number;
  /** Fewest clients that made them. @default 1 */
  readonly clientsMin?: number;
  /** Smallest share of the calls of its rarest tool that belongs to a sequence, from 0 to 1. @default 0.2 */
  readonly confidenceMin?: number;
  /** Most calls of a sequence, 2 to 6. @default 6 */
  readonly stepsMax?: number;
  /** Most chains that are suggested. @default 20 */
  readonly limit?: number;
  /** First parts of the tool ids of suggestions. @default "suggested" */
  readonly prefix?: string;
  /** Limits of the analysis. */
  readonly limits?: Partial<TrailLimits>;
}

/** The suggestions of a trail. */
export interface ChainSuggestions {
  /** The ones that explain most calls first. */
  readonly suggestions: readonly ChainSuggestion[];
  /** Sequences that occur often, and cannot be a chain. */
  readonly unmapped: readonly UnmappedSequence[];
  /** Calls that were analysed. */
  readonly calls: number;
  /** Older calls that the limits left out. */
  readonly droppedCalls: number;
  /** Chains beyond the limit. */
  readonly omitted: number;
}

const defaultLimits: TrailLimits = {
  calls: 100_000,
  values: 4_000_000,
  clients: 500,
  window: 32,
  gapMs: 3_600_000,
};

/** Finds chains in records, which come oldest first. */
export class ChainMiner {
  readonly #options: ChainMinerOptions;
  readonly #limits: TrailLimits;
  readonly #trail: TrailCalls;

  constructor(options: ChainMinerOptions = {}) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#trail = new TrailCalls(this.#limits);
  }

  /** Takes a record, such as an `AuditRecord`. One that is not of a call, or not as a gateway writes it, is ignored. */
  add(record: { readonly type: string; readonly time: string; readonly data: unknown }): void {
    this.#trail.add(record);
  }

  /** Returns what the records so far suggest. */
  suggest(): ChainSuggestions {
    const { supportMin = 5, clientsMin = 1, confidenceMin = 0.2, stepsMax = 6, limit = 20 } = this.#options;
    const { calls, dropped } = this.#trail;
    const flows = strongFlowsOf(calls, { supportMin, window: this.#limits.window });
    const sequences = findSequences({ calls, flows }, { supportMin, clientsMin, confidenceMin, stepsMax });
    const suggestions: ChainSuggestion[] = [];
    const unmapped: UnmappedSequence[] = [];
    const takenIds = new Set<string>();
    for (const sequence of sequences) {
      const chain = toChain(sequence, this.#options.prefix ?? "suggested", takenIds);
      if ("reason" in chain) unmapped.push(chain);
      else suggestions.push(chain);
    }
    return {
      suggestions: suggestions.slice(0, limit),
      unmapped: unmapped.slice(0, limit),
      calls: calls.size,
      droppedCalls: dropped,
      omitted: Math.max(0, suggestions.length - limit),
    };
  }
}
