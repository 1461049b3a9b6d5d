/**
 * Sequences of calls that occur often. For each call the calls are collected that its arguments came from,
 * directly or through others; those with the same tools in the same order are occurrences of one
 * sequence. The time it takes grows with the number of calls, not with that of their pairs. Pure.
 */

import type { Flow, TrailCall } from "./trail-calls.ts";

/** The requirements of a sequence that counts. */
export interface SequenceRules {
  /** Fewest occurrences. */
  readonly supportMin: number;
  readonly clientsMin: number;
  /** Smallest share of the calls of its rarest tool that belongs to it, from 0 to 1. */
  readonly confidenceMin: number;
  /** Most calls, 2 to 6. */
  readonly stepsMax: number;
}

/** Calls that are fed by each other, in the order of the steps. */
export interface Occurrence {
  readonly calls: readonly TrailCall[];
  /** Flows into each of them from the others; `from` is the position of a step. */
  readonly flows: readonly (readonly Flow[])[];
}

/** A sequence, and where it occurred. */
export interface Sequence {
  readonly tools: readonly string[];
  /** Occurrences with different first calls. */
  readonly support: number;
  readonly clients: number;
  readonly confidence: number;
  /** A sample of its occurrences: all, up to 500. */
  readonly occurrences: readonly Occurrence[];
}

/** Different sequences that are counted. */
const candidatesMaxCount = 20_000;
/** Sequences that are compared with each other. */
const frequentMaxCount = 500;
const occurrencesMaxCount = 500;
/** Share of the occurrences of a sequence that a longer one must have to take its place. */
const containedShare = 0.5;

interface Candidate {
  readonly tools: readonly string[];
  readonly starts: Set<number>;
  readonly clients: Set<number>;
}

/** The calls, and the flows between them that count. */
export interface CallGraph {
  readonly calls: ReadonlyMap<number, TrailCall>;
  readonly flows: ReadonlyMap<number, readonly Flow[]>;
}

/** Returns the sequences that fulfil `rules`, the ones that explain most calls first, without those that are part of a longer one. */
export function findSequences(graph: CallGraph, rules: SequenceRules): readonly Sequence[] {
  const candidates = new Map<string, Candidate>();
  for (const number of graph.flows.keys()) {
    const { calls } = occurrenceAt(graph, number, rules.stepsMax);
    if (calls.length < 2) continue;
    const key = keyOf(calls);
    const known = candidates.get(key);
    if (known === undefined && candidates.size >= candidatesMaxCount) continue;
    const candidate = known ?? {
      tools: calls.map(({ tool }) => tool),
      starts: new Set(),
      clients: new Set(),
    };
    candidates.set(key, candidate);
    candidate.starts.add(Math.min(...calls.map((call) => call.number)));
    for (const { client } of calls) candidate.clients.add(client);
  }
  const frequent = withoutParts(frequentOf(candidates, graph, rules));
  return withOccurrences(frequent, graph, rules);
}

/** Collects the calls that the arguments of a call came from, the nearest first, each tool once. */
function occurrenceAt({ calls, flows }: CallGraph, number: number, stepsMax: number): Occurrence {
  const found = new Map<string, TrailCall>();
  const queue = [number];
  for (let at = 0; at < queue.length && found.size < stepsMax; at += 1) {
    const call = calls.get(queue[at] ?? -1);
    if (call === undefined || found.has(call.tool)) continue;
    found.set(call.tool, call);
    for (const { from } of flows.get(call.number) ?? []) queue.push(from);
  }
  const ordered = [...found.values()].toSorted((one, other) => one.number - other.number);
  return toOccurrence(ordered, flows);
}

/** Orders calls so that each comes after those that feed it, and otherwise by their tools: the order of independent calls varies. */
function toOccurrence(ordered: readonly TrailCall[], flows: CallGraph["flows"]): Occurrence {
  const levels = new Map<number, number>();
  for (const { number } of ordered) {
    const before = (flows.get(number) ?? []).map(({ from }) => levels.get(from) ?? -1);
    levels.set(number, 1 + Math.max(-1, ...before));
  }
  const levelOf = ({ number }: TrailCall) => levels.get(number) ?? 0;
  const calls = ordered.toSorted(
    (one, other) => levelOf(one) - levelOf(other) || (one.tool < other.tool ? -1 : 1),
  );
  const positions = new Map(calls.map(({ number }, at) => [number, at]));
  return {
    calls,
    flows: calls.map(({ number }) =>
      (flows.get(number) ?? []).flatMap((flow) => {
        const from = positions.get(flow.from);
        return from === undefined ? [] : [{ ...flow, from }];
      }),
    ),
  };
}

function keyOf(calls: readonly TrailCall[]): string {
  return JSON.stringify(calls.map(({ tool }) => tool));
}

type Counted = Omit<Sequence, "occurrences">;

function frequentOf(
  candidates: ReadonlyMap<string, Candidate>,
  { calls }: CallGraph,
  { supportMin, clientsMin, confidenceMin }: SequenceRules,
): readonly Counted[] {
  const counts = new Map<string, number>();
  for (const { tool, resultValues } of calls.values())
    if (resultValues !== undefined) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return [...candidates.values()]
    .map(({ tools, starts, clients }): Counted => {
      const rarest = Math.min(...tools.map((tool) => counts.get(tool) ?? 0));
      const confidence = Math.min(1, starts.size / Math.max(1, rarest));
      return { tools, support: starts.size, clients: clients.size, confidence };
    })
    .filter(
      (one) => one.support >= supportMin && one.clients >= clientsMin && one.confidence >= confidenceMin,
    )
    .toSorted(
      (one, other) =>
        other.support * (other.tools.length - 1) - one.support * (one.tools.length - 1) ||
        (keyOfTools(one) < keyOfTools(other) ? -1 : 1),
    )
    .slice(0, frequentMaxCount);
}

function keyOfTools({ tools }: Pick<Sequence, "tools">): string {
  return JSON.stringify(tools);
}

function withoutParts(found: readonly Counted[]): readonly Counted[] {
  return found.filter(
    (part) =>
      !found.some(
        (whole) =>
          whole.tools.length > part.tools.length &&
          whole.support >= containedShare * part.support &&
          isWithin(part.tools, whole.tools),
      ),
  );
}

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const tool of whole) if (tool === part[at]) at += 1;
  return at === part.length;
}

function withOccurrences(
  found: readonly Counted[],
  graph: CallGraph,
  { stepsMax }: SequenceRules,
): readonly Sequence[] {
  const samples = new Map(found.map((one) => [keyOfTools(one), [] as Occurrence[]]));
  for (const number of graph.flows.keys()) {
    const occurrence = occurrenceAt(graph, number, stepsMax);
    const sample = samples.get(keyOf(occurrence.calls));
    if (sample !== undefined && sample.length < occurrencesMaxCount) sample.push(occurrence);
  }
  return found.map((one) => ({ ...one, occurrences: samples.get(keyOfTools(one)) ?? [] }));
}
