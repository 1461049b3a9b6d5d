/**
 * Pauses: what the operator stopped, and which calls that stops. A pause only ever
 * refuses calls, so that everything that could be meant is matched: a resource in any spelling of its
 * URI, a tool with and without its version, a client by its subject and by its name. Pure.
 */

import { ToolPatterns } from "@toolcrib/policy";
import { type Identity, identityKey, type ToolId } from "@toolcrib/tool";

/** The kinds of targets that a pause can stop. */
const pauseKinds = ["server", "tool", "client", "all"] as const;

/** The target that is stopped. */
export interface PauseTarget {
  readonly kind: (typeof pauseKinds)[number];
  /** Id of a server or toolspec; id, wire name or pattern of tools, resources and prompts; name of a client; empty for `all`. */
  readonly name: string;
}

/** A pause of the operator. */
export interface Pause extends PauseTarget {
  /** For people; at most 500 characters. */
  readonly reason?: string;
  /** The operator who paused. */
  readonly pausedBy: Pick<Identity, "issuer" | "subject">;
  /** Milliseconds since the epoch. */
  readonly pausedAt: number;
  /** Milliseconds since the epoch, from which on it stops nothing. @default until it is resumed */
  readonly expiresAt?: number;
}

/** A call as pauses see it. */
export interface PausedCall {
  readonly id: ToolId;
  readonly wireName: string;
  /** Id of the configured source that runs it. */
  readonly server: string | undefined;
  readonly identity: Identity;
  /** Owners of saved tools around the call that are not approved. */
  readonly owners?: readonly Identity[] | undefined;
}

/** Limits of a pause. */
interface PauseLimits {
  /** Most characters of the name of what is paused. @default 1,024 */
  readonly nameMaxLength: number;
  /** Most characters of the reason of a pause. @default 500 */
  readonly reasonMaxLength: number;
}

const { nameMaxLength, reasonMaxLength }: PauseLimits = { nameMaxLength: 1024, reasonMaxLength: 500 };

/** Returns the key of what is stopped: two pauses of one key replace each other. */
export function pauseKey({ kind, name }: PauseTarget): string {
  return `${kind} ${name}`;
}

/** Returns what is stopped in words, such as `server "github"`. */
export function describePause({ kind, name }: PauseTarget): string {
  return kind === "all" ? "everything" : `${kind} "${name}"`;
}

/** Returns a target, or the reason why there is none, as the end of a sentence. */
export function parsePauseTarget(
  kind: string,
  name: string,
  reason = "",
): { readonly target: PauseTarget } | { readonly problem: string } {
  const known = pauseKinds.find((one) => one === kind);
  if (known === undefined) return { problem: `"${kind.slice(0, 40)}" is none of ${pauseKinds.join(", ")}` };
  if (known === "all" && name !== "") return { problem: "all takes no name" };
  if (known !== "all" && name.trim() === "") return { problem: `${known} needs a name` };
  if (name.length > nameMaxLength) return { problem: `the name has more than ${nameMaxLength} characters` };
  if (reason.length > reasonMaxLength)
    return { problem: `the reason has more than ${reasonMaxLength} characters` };
  return { target: { kind: known, name } };
}

interface CompiledPause {
  readonly pause: Pause;
  readonly stops: (call: PausedCall) => boolean;
}

/** The pauses of one moment. */
export class PauseSet {
  readonly #compiled: readonly CompiledPause[];

  /** @param clientKeys returns the `identityKey`s that the configuration gives a name. @default none */
  constructor(pauses: Iterable<Pause>, clientKeys: (name: string) => readonly string[] = () => []) {
    // What stops most comes first: its message is the one that helps.
    const order = ["all", "client", "server", "tool"];
    this.#compiled = [...pauses]
      .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
      .map((pause) => ({ pause, stops: compile(pause, clientKeys) }));
  }

  /** Whether there is no pause, current or expired. */
  get isEmpty(): boolean {
    return this.#compiled.length === 0;
  }

  /** Returns the pauses that apply at `now`. */
  current(now: number): readonly Pause[] {
    return this.#compiled.map(({ pause }) => pause).filter((pause) => isCurrent(pause, now));
  }

  /** Returns the pause that stops `call` at `now`. */
  find(call: PausedCall, now: number): Pause | undefined {
    return this.#compiled.find(({ pause, stops }) => isCurrent(pause, now) && stops(call))?.pause;
  }
}

function isCurrent({ expiresAt }: Pause, now: number): boolean {
  return expiresAt === undefined || now < expiresAt;
}

function compile(
  { kind, name }: Pause,
  clientKeys: (name: string) => readonly string[],
): (call: PausedCall) => boolean {
  switch (kind) {
    case "all":
      return () => true;
    case "server":
      return ({ server, id }) => server === name || id.startsWith(`${name}:`);
    case "tool": {
      // Of an id without a version, all versions are meant.
      const patterns = new ToolPatterns(name.includes(":") ? [name, `${name}:*`] : [name]);
      return ({ id, wireName }) => patterns.findInAny(id, wireName) !== undefined;
    }
    case "client": {
      const keys = new Set(clientKeys(name));
      const isMeant = (one: Identity) =>
        one.subject === name || one.name === name || keys.has(identityKey(one));
      return ({ identity, owners = [] }) => isMeant(identity) || owners.some(isMeant);
    }
  }
}
