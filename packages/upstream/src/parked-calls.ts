/**
 * Calls of modern clients that ask while they run: at a legacy server, or within a composite. The questions are the
 * result of the call, which stays open, parked, until the client repeats it with the answers.
 *
 * A parked call has a deadline, belongs to a limited number of parked calls of its client and of all clients, ends when
 * it is paused, and can be continued only with the state that its questions came with. The gateway seals that state, and
 * binds it to the identity, the tool and the arguments of the call.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type CallContext, type InputRounds, identityKey } from "@toolcrib/tool";
import type { Seat } from "./call-seats.ts";
import {
  canAnswer,
  missingCapability,
  type Question,
  questionOver,
  questionResult,
  readState,
} from "./input-required.ts";
import { ParkedPlaces } from "./parked-places.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Dependencies of `ParkedCalls`. */
export interface ParkedCallsDeps {
  /** The id of the server, or of the source whose calls ask. */
  readonly serverId: string;
  /** Places for parked calls, of all servers together. */
  readonly places: ParkedPlaces;
  /** Milliseconds for the answers to one round of questions. */
  readonly answerTimeoutMs: number;
}

/** Parked calls of composites: each keeps a program in memory. @limit client */
const maxInnerParked = 64;
/** Milliseconds for the answers to one round of questions of a composite. @limit client */
const innerAnswerTimeoutMs = 600_000;
/** Rounds of one parked call. @limit server */
const maxRounds = 100;

/** Milliseconds in which questions that a server asks together become one round. */
const gatherMs = 5;
/** Messages of a server that are kept between two rounds of a call, and their size in characters; later ones are dropped. */
const maxKept = { messages: 100, length: 65_536 } as const;

/** The parked calls of one server, or of all composites. */
export class ParkedCalls {
  readonly #deps: ParkedCallsDeps;
  readonly #parked = new Map<string, ParkedCall>();
  #count = 0;

  constructor(deps: ParkedCallsDeps) {
    this.#deps = deps;
  }

  /** Creates places for the parked calls of several servers. @param max of all clients; one client gets at most half of them */
  static places(max: number, now: () => number): ParkedPlaces {
    return new ParkedPlaces(max, now);
  }

  /** Creates the parked calls of a source whose calls make inner calls, such as composites. */
  static ofInnerCalls(sourceId: string, now: () => number): ParkedCalls {
    const places = new ParkedPlaces(maxInnerParked, now);
    return new ParkedCalls({ serverId: sourceId, places, answerTimeoutMs: innerAnswerTimeoutMs });
  }

  /**
   * Makes a call that has no session of its own, or continues it.
   *
   * @param make makes the call for a context in whose name it asks.
   */
  async send(context: CallContext, make: (context: CallContext) => Promise<JsonObject>): Promise<JsonObject> {
    const { rounds } = context;
    const parked = readState(rounds?.state, this.#deps.serverId)?.parked;
    return rounds === undefined || parked === undefined
      ? this.run(context, undefined, make)
      : this.continue(parked, rounds, context);
  }

  /** Calls that wait for answers. */
  get size(): number {
    return this.#parked.size;
  }

  /**
   * Makes a call that may be parked.
   *
   * @param send makes the call for a context in whose name the server asks.
   * @returns its result, or its questions.
   */
  run(
    context: CallContext,
    seat: Seat | undefined,
    send: (context: CallContext) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    this.#count += 1;
    const id = String(this.#count);
    const call = new ParkedCall(id, context, seat, {
      ...this.#deps,
      onParked: () => this.#parked.set(id, call),
      onEnd: () => this.#parked.delete(id),
    });
    return call.start(context, send);
  }

  /** Continues a parked call with the answers of `context`. @throws {UpstreamError} `UPSTREAM_QUESTION_OVER` */
  continue(id: string, rounds: InputRounds, context: CallContext): Promise<JsonObject> {
    const call = this.#parked.get(id);
    const { serverId } = this.#deps;
    if (call === undefined)
      throw questionOver(serverId, "its call ended, or was answered too late, or the gateway was restarted");
    return call.resume(rounds.responses ?? {}, context);
  }

  /** Ends all parked calls. */
  endAll(reason: Error): void {
    for (const call of [...this.#parked.values()]) call.end(reason);
  }
}

/** A question that waits for its answer. */
interface OpenQuestion extends Question {
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
}

interface ParkedCallDeps extends ParkedCallsDeps {
  readonly onParked: () => void;
  readonly onEnd: () => void;
}

/** Settles the request of the client that waits for the call. */
interface Waiter {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
}

/** One call, from its request to the result of the server. */
class ParkedCall {
  readonly #id: string;
  readonly #holder: string;
  readonly #deps: ParkedCallDeps;
  /** The place of the call, until it is given back. */
  #seat: Seat | undefined;
  readonly #controller = new AbortController();
  readonly #questions = new Map<string, OpenQuestion>();
  /** The labels of the data that the call received. */
  #labels: CallContext["run"];
  /** The request of the client that gets progress, messages and the next result. */
  #context: CallContext | undefined;
  #waiter: Waiter | undefined;
  /** Progress and messages of the server since the last round, for the next one. */
  #kept: ((context: CallContext) => void)[] = [];
  #keptLength = 0;
  /** The end of the call, until a request of the client collects it. */
  #outcome: ((waiter: Waiter) => void) | undefined;
  #questionCount = 0;
  #roundCount = 0;
  /** Ends the call. It runs from the first open question on, until all are answered: answers to some do not prolong it. */
  #timer: NodeJS.Timeout | undefined;
  /** Ends the watch for pauses between two rounds. */
  #endWatch: (() => void) | undefined;
  #hasPlace = false;

  constructor(id: string, { identity }: CallContext, seat: Seat | undefined, deps: ParkedCallDeps) {
    this.#id = id;
    this.#holder = identityKey(identity);
    this.#seat = seat;
    this.#deps = deps;
  }

  start(given: CallContext, send: (context: CallContext) => Promise<JsonObject>): Promise<JsonObject> {
    const context: CallContext = {
      ...given,
      rounds: undefined,
      signal: this.#controller.signal,
      session: this.#seat?.client,
      progress: (params) =>
        this.#pass(params, (current) => current.wantsProgress && current.progress(params)),
      notify: (method, params) => this.#pass(params, (current) => current.notify(method, params)),
      ask: (method, params, signal) => this.#ask(method, params, signal),
    } as CallContext;
    this.#labels = given.run;
    const next = this.#next(given);
    send(context).then(
      (result) => this.#settle(({ resolve }) => resolve(result)),
      (error: unknown) => this.#settle(({ reject }) => reject(error)),
    );
    return next;
  }

  resume(responses: JsonObject, context: CallContext): Promise<JsonObject> {
    const { serverId } = this.#deps;
    if (this.#waiter !== undefined) throw questionOver(serverId, "its call is being continued");
    this.#endWatch?.();
    this.#endWatch = undefined;
    this.#deps.places.continued(this.#holder, this);
    this.#roundCount += 1;
    if (this.#roundCount > maxRounds) {
      this.end(endless(serverId));
      throw endless(serverId);
    }
    const next = this.#next(context);
    for (const [key, question] of this.#questions) {
      const answer = responses[key];
      if (!isJsonObject(answer)) continue;
      this.#questions.delete(key);
      question.resolve(answer);
    }
    if (this.#questions.size === 0) this.#stopTimer();
    if (this.#outcome !== undefined) this.#deliver(this.#outcome);
    else if (this.#questions.size > 0) this.#gather();
    return next;
  }

  /** Ends the call at the server. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
    for (const question of this.#questions.values()) question.reject(reason);
    this.#questions.clear();
    if (this.#waiter === undefined) this.#free();
    // The server may not notice that its request was cancelled while it waits.
    this.#seat?.end();
    this.#seat = undefined;
  }

  /** Waits for the result of the call or for its next questions, in the name of the request `context`. */
  #next(context: CallContext): Promise<JsonObject> {
    const { signal } = context;
    return new Promise((resolve, reject) => {
      const cancelled = () => {
        this.#waiter = undefined;
        this.end(signal.reason);
        reject(signal.reason);
      };
      const settled =
        <Value>(act: (value: Value) => void) =>
        (value: Value) => {
          signal.removeEventListener("abort", cancelled);
          act(value);
        };
      this.#context = context;
      const kept = this.#kept;
      this.#kept = [];
      this.#keptLength = 0;
      for (const pass of kept) pass(context);
      this.#waiter = { resolve: settled(resolve), reject: settled(reject) };
      if (signal.aborted) cancelled();
      else signal.addEventListener("abort", cancelled, { once: true });
    });
  }

  /** Passes a message on to the request of the client, or keeps it for the next one. */
  #pass(params: JsonObject, pass: (context: CallContext) => void): void {
    if (this.#context !== undefined) {
      pass(this.#context);
      return;
    }
    const { length } = JSON.stringify(params);
    if (this.#kept.length >= maxKept.messages || this.#keptLength + length > maxKept.length) return;
    this.#kept.push(pass);
    this.#keptLength += length;
  }

  #ask(method: string, given: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { serverId, places } = this.#deps;
    // The id of a page to visit is not part of the modern era.
    const { elicitationId: _id, ...params } = given;
    const context = this.#context;
    if (!canAnswer(context?.clientCapabilities ?? {}, method, params))
      return Promise.reject(missingCapability(serverId, method, params));
    const refusal = this.#hasPlace ? undefined : places.take(this.#holder, this);
    if (refusal !== undefined) return Promise.reject(crowded(serverId, refusal === "share"));
    this.#hasPlace = true;
    this.#questionCount += 1;
    const key = `q${this.#questionCount}`;
    return new Promise((resolve, reject) => {
      this.#questions.set(key, { method, params, resolve, reject });
      this.#startTimer();
      signal.addEventListener("abort", () => {
        if (this.#questions.delete(key)) reject(signal.reason);
      });
      this.#gather();
    });
  }

  /** Returns the open questions to the client soon: a server can ask several at once. */
  #gather(): void {
    setTimeout(() => {
      if (this.#waiter === undefined || this.#questions.size === 0 || this.#outcome !== undefined) return;
      const open = [...this.#questions].map(([key, { method, params }]) => [key, { method, params }]);
      const { serverId: server, places } = this.#deps;
      const result = questionResult(Object.fromEntries(open), { server, parked: this.#id });
      const whileParked = this.#context?.whileParked;
      this.#deps.onParked();
      places.parked(this.#holder, this);
      this.#deliver(({ resolve }) => resolve(result));
      try {
        this.#endWatch = whileParked?.((reason) => this.end(reason));
      } catch (reason) {
        // It was paused in this moment.
        this.end(reason);
      }
    }, gatherMs);
  }

  #startTimer(): void {
    const { serverId, answerTimeoutMs } = this.#deps;
    this.#timer ??= setTimeout(() => this.end(tooLate(serverId, answerTimeoutMs)), answerTimeoutMs).unref();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #settle(outcome: (waiter: Waiter) => void): void {
    this.#outcome = outcome;
    this.#questions.clear();
    // The client has time to collect the end of a call that did not wait for its answers.
    if (this.#waiter === undefined) this.#startTimer();
    if (this.#controller.signal.aborted) this.#free();
    this.#seat = undefined;
    if (this.#waiter !== undefined) this.#deliver(outcome);
  }

  #deliver(outcome: (waiter: Waiter) => void): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    this.#waiter = undefined;
    // What the call received in earlier rounds is in what it returns in this one.
    if (this.#context?.run !== this.#labels) this.#context?.run?.add(this.#labels?.labels ?? []);
    this.#context = undefined;
    if (this.#outcome !== undefined) this.#free();
    outcome(waiter);
  }

  #free(): void {
    this.#stopTimer();
    this.#endWatch?.();
    this.#endWatch = undefined;
    this.#deps.onEnd();
    if (this.#hasPlace) this.#deps.places.giveBack(this.#holder, this);
    this.#hasPlace = false;
  }
}

function crowded(server: string, isShare: boolean): UpstreamError {
  const whose = isShare ? "This client's share of the calls" : "All calls";
  return new UpstreamError(
    "UPSTREAM_PARKED_LIMIT",
    `${whose} that may wait for answers at a time are in use`,
    {
      hint: "answer the questions of other calls first",
      data: { server },
    },
  );
}

function tooLate(server: string, answerTimeoutMs: number): UpstreamError {
  const text = `The client did not answer the questions of "${server}" within ${answerTimeoutMs / 1000} s`;
  return new UpstreamError("UPSTREAM_QUESTION_OVER", text, { data: { server } });
}

function endless(server: string): UpstreamError {
  const text = `A call of "${server}" asked its client in more than ${maxRounds} rounds`;
  return new UpstreamError("UPSTREAM_QUESTIONS_ENDLESS", text, { data: { server } });
}
