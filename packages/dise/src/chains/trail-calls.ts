/**
 * The calls of an audit trail and the flows of values between them: an argument whose fingerprint is that of a
 * value in an earlier result of the same client. Records come oldest first and may be forged: whatever is not
 * as the gateway writes it is ignored, and calls, values, clients and flows have limits. No value is known here.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { formOf, outputPointerOf, splitArgument } from "./places.ts";
import { roleOf } from "./recorded-origin.ts";

/** An argument that came from an earlier result. */
export interface Flow {
  readonly argument: string;
  /** Number of the call whose result had the value. */
  readonly from: number;
  /** Places in the output of that call, as JSON Pointers; none when a chain cannot refer to the value. */
  readonly pointers: readonly string[];
}

/** An argument of a call. */
export interface Argument {
  readonly name: string;
  /** Fingerprint of its value; undefined when it has none or several. */
  readonly value: number | undefined;
  /** Fingerprints of all values in it. */
  readonly values: readonly number[];
}

/** A call. */
export interface TrailCall {
  readonly number: number;
  readonly tool: string;
  readonly client: number;
  readonly args: readonly Argument[];
  readonly argumentValues: ReadonlySet<number>;
  readonly flows: readonly Flow[];
  /** Fingerprints of values in its result; undefined until it has one. */
  resultValues: ReadonlySet<number> | undefined;
}

/** Limits of the analysis. */
export interface TrailLimits {
  /** Calls that are kept, the newest ones. @default 100,000 */
  readonly calls: number;
  /** Values and flows of all calls that are kept; the oldest calls are dropped. @default 4,000,000 */
  readonly values: number;
  /** Clients whose recent results are compared at the same time. @default 500 */
  readonly clients: number;
  /** Results of a client that later arguments are compared with. @default 32 */
  readonly window: number;
  /** Milliseconds between a result and an argument that came from it. @default 3,600,000 */
  readonly gapMs: number;
}

const leavesMaxCount = 64;
const argumentsMaxCount = 16;
const placesOfValueMaxCount = 4;
const producersMaxCount = 8;
const openMaxCount = 10_000;
const textMaxLength = 250;

interface Producer {
  readonly number: number;
  readonly atMs: number;
  readonly pointers: readonly string[];
}

interface ClientState {
  readonly number: number;
  /** Calls with results, the newest last, and the values that they published. */
  readonly recent: { readonly call: TrailCall; readonly values: readonly number[] }[];
  readonly producers: Map<number, Producer[]>;
}

interface OpenCall {
  /** Undefined for a call that is not counted itself. */
  readonly call: TrailCall | undefined;
  readonly client: string;
  readonly tool: string;
  /** Whether its inner calls are steps of a tool that exists already. */
  readonly isBundle: boolean;
}

/** Collects calls and flows. */
export class TrailCalls {
  readonly #limits: TrailLimits;
  readonly #calls = new Map<number, TrailCall>();
  readonly #open = new Map<string, OpenCall>();
  readonly #clients = new Map<string, ClientState>();
  #nextCall = 0;
  #nextClient = 0;
  #cost = 0;
  #dropped = 0;

  constructor(limits: TrailLimits) {
    this.#limits = limits;
  }

  /** Calls by their numbers, in the order of their intents. */
  get calls(): ReadonlyMap<number, TrailCall> {
    return this.#calls;
  }

  /** Number of calls that were dropped because of the limits. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes a record of the trail. */
  add({ type, time, data }: { readonly type: string; readonly time: string; readonly data: unknown }): void {
    if (type !== "call.intent" && type !== "call.completed") return;
    if (!isJsonObject(data as JsonValue)) return;
    const found = toSubject(data as JsonObject);
    if (found === undefined) return;
    if (type === "call.intent") this.#begin(found, Date.parse(time));
    else this.#end(found, Date.parse(time));
  }

  #begin(subject: Subject, atMs: number): void {
    const { callId, parentId, origin, tool, client, data } = subject;
    if (this.#open.has(callId)) return;
    const isInner = parentId !== undefined && this.#open.get(parentId)?.isBundle === true;
    const { isStep, isComposed } = roleOf(origin);
    const isCounted = isStep && !isInner;
    const isBundle = isInner || isComposed;
    const call = isCounted ? this.#newCall(tool, this.#clientOf(client), data, atMs) : undefined;
    this.#open.set(callId, { call, client, tool, isBundle });
    // Calls of killed gateways never end.
    if (this.#open.size > openMaxCount) this.#open.delete(first(this.#open));
  }

  #newCall(tool: string, client: ClientState, data: JsonObject, atMs: number): TrailCall {
    const leaves = toLeaves(data["fingerprints"]);
    const byArgument = groupByArgument(leaves);
    const previewed = isJsonObject(data["preview"]) ? Object.keys(data["preview"]) : [];
    const names = [...new Set([...byArgument.keys(), ...previewed])].filter(isUsableName);
    const kept = names.slice(0, argumentsMaxCount);
    const call: TrailCall = {
      number: this.#nextCall,
      tool,
      client: client.number,
      args: kept.map((name) => toArgument(name, byArgument.get(name) ?? [])),
      argumentValues: new Set(leaves.map(({ value }) => value)),
      flows: kept.flatMap((name) => this.#flowOf(name, byArgument.get(name) ?? [], client, atMs)),
      resultValues: undefined,
    };
    this.#nextCall += 1;
    this.#calls.set(call.number, call);
    this.#pay(2 * call.argumentValues.size + 8 * (1 + call.args.length + call.flows.length));
    return call;
  }

  #flowOf(argument: string, leaves: readonly InnerLeaf[], client: ClientState, atMs: number): Flow[] {
    const [leaf] = leaves;
    if (leaf === undefined) return [];
    const producers = this.#producersOf(client, leaf.value, atMs);
    for (const producer of producers) {
      const pointers = this.#pointersFor(producer, leaves, client);
      if (pointers.length > 0) return [{ argument, from: producer.number, pointers }];
    }
    const [newest] = producers;
    return newest === undefined ? [] : [{ argument, from: newest.number, pointers: [] }];
  }

  #producersOf(client: ClientState, value: number, atMs: number): readonly Producer[] {
    const all = client.producers.get(value) ?? [];
    return all.filter((one) => atMs - one.atMs <= this.#limits.gapMs).toReversed();
  }

  /** The places in the result of `producer` where the whole argument is. */
  #pointersFor(producer: Producer, leaves: readonly InnerLeaf[], client: ClientState): readonly string[] {
    // One value inside of an argument says nothing about the rest of it.
    if (leaves.length === 1 && leaves[0]?.inside !== "") return [];
    let common: readonly string[] | undefined;
    for (const { value, inside } of leaves) {
      const own = client.producers.get(value)?.find(({ number }) => number === producer.number);
      if (own === undefined) return [];
      const wholes = own.pointers
        .filter((pointer) => pointer.endsWith(inside))
        .map((pointer) => pointer.slice(0, pointer.length - inside.length));
      common = common === undefined ? wholes : common.filter((one) => wholes.includes(one));
      if (common.length === 0) return [];
    }
    return common ?? [];
  }

  #end({ callId, tool, client, data }: Subject, atMs: number): void {
    const open = this.#open.get(callId);
    if (open === undefined || open.tool !== tool || open.client !== client) return;
    this.#open.delete(callId);
    const { call } = open;
    if (call === undefined || data["outcome"] !== "ok" || !this.#calls.has(call.number)) return;
    const leaves = toLeaves(data["fingerprints"]);
    call.resultValues = new Set(leaves.map(({ value }) => value));
    this.#pay(call.resultValues.size);
    this.#publish(call, leaves, this.#clientOf(client), atMs);
  }

  #publish(call: TrailCall, leaves: readonly Leaf[], client: ClientState, atMs: number): void {
    const form = formOf(leaves.map(({ place }) => place));
    const pointers = new Map<number, string[]>();
    for (const { place, value } of leaves) {
      // A value that the call was given does not come from it.
      if (call.argumentValues.has(value)) continue;
      const known = pointers.get(value) ?? [];
      pointers.set(value, known);
      const pointer = outputPointerOf(place, form);
      if (pointer !== undefined && known.length < placesOfValueMaxCount) known.push(pointer);
    }
    for (const [value, places] of pointers) {
      const producers = client.producers.get(value) ?? [];
      producers.push({ number: call.number, atMs, pointers: places });
      if (producers.length > producersMaxCount) producers.shift();
      client.producers.set(value, producers);
    }
    client.recent.push({ call, values: [...pointers.keys()] });
    if (client.recent.length > this.#limits.window) forgetOldest(client);
  }

  #clientOf(key: string): ClientState {
    const known = this.#clients.get(key);
    const state = known ?? { number: this.#nextClient, recent: [], producers: new Map() };
    if (known === undefined) this.#nextClient += 1;
    // The client that was idle for the longest time is first.
    this.#clients.delete(key);
    this.#clients.set(key, state);
    if (this.#clients.size > this.#limits.clients) this.#clients.delete(first(this.#clients));
    return state;
  }

  #pay(cost: number): void {
    this.#cost += cost;
    while (
      this.#calls.size > this.#limits.calls ||
      (this.#cost > this.#limits.values && this.#calls.size > 1)
    ) {
      const [oldest] = this.#calls.values();
      if (oldest === undefined) return;
      this.#calls.delete(oldest.number);
      this.#dropped += 1;
      this.#cost -= 2 * oldest.argumentValues.size + (oldest.resultValues?.size ?? 0);
      this.#cost -= 8 * (1 + oldest.args.length + oldest.flows.length);
    }
  }
}

function forgetOldest({ recent, producers }: ClientState): void {
  const oldest = recent.shift();
  for (const value of oldest?.values ?? []) {
    const left = (producers.get(value) ?? []).filter(({ number }) => number !== oldest?.call.number);
    if (left.length === 0) producers.delete(value);
    else producers.set(value, left);
  }
}

function first<Key>(map: ReadonlyMap<Key, unknown>): Key {
  return map.keys().next().value as Key;
}

interface Subject {
  readonly callId: string;
  readonly parentId: string | undefined;
  readonly tool: string;
  readonly origin: string;
  /** Identifies the client. */
  readonly client: string;
  readonly data: JsonObject;
}

function toSubject(data: JsonObject): Subject | undefined {
  const { callId, parentId, origin, server, client } = data;
  if (!isShortText(callId) || !isShortText(data["tool"]) || !isShortText(origin)) return undefined;
  if (!isJsonObject(client)) return undefined;
  // A chain names a package by its toolId.
  const tool = roleOf(origin).isNamedBySource && isShortText(server) ? server : data["tool"];
  const key = [client["issuer"] ?? client["kind"] ?? "", client["subject"] ?? client["name"] ?? ""];
  if (!key.every((part) => typeof part === "string" && part.length <= 4 * textMaxLength)) return undefined;
  const parent = isShortText(parentId) ? parentId : undefined;
  return { callId, parentId: parent, tool, origin, client: JSON.stringify(key), data };
}

function isShortText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= textMaxLength;
}

function isUsableName(name: string): boolean {
  return name !== "" && name.length <= 100 && !name.includes("\u0000") && !name.endsWith("…");
}

interface Leaf {
  readonly place: string;
  readonly value: number;
}

interface InnerLeaf {
  readonly inside: string;
  readonly value: number;
}

/** The first 52 bits of each fingerprint: numbers take a fraction of the memory of texts. */
function toLeaves(fingerprints: JsonValue | undefined): readonly Leaf[] {
  if (!isJsonObject(fingerprints)) return [];
  const leaves: Leaf[] = [];
  for (const [place, value] of Object.entries(fingerprints)) {
    if (leaves.length >= leavesMaxCount) break;
    if (typeof value !== "string" || !/^[0-9a-f]{16}$/.test(value) || place.length > textMaxLength) continue;
    leaves.push({ place, value: Number.parseInt(value.slice(0, 13), 16) });
  }
  return leaves;
}

function groupByArgument(leaves: readonly Leaf[]): ReadonlyMap<string, readonly InnerLeaf[]> {
  const groups = new Map<string, InnerLeaf[]>();
  for (const { place, value } of leaves) {
    const split = splitArgument(place);
    if (split === undefined) continue;
    const group = groups.get(split.name) ?? [];
    group.push({ inside: split.inside, value });
    groups.set(split.name, group);
  }
  return groups;
}

function toArgument(name: string, leaves: readonly InnerLeaf[]): Argument {
  const [only, ...others] = leaves;
  const value = others.length === 0 && only?.inside === "" ? only.value : undefined;
  return { name, value, values: leaves.map((leaf) => leaf.value) };
}
