/**
 * Calls of tools that are not listed while their server makes first contact: the
 * call waits for the server, within the time limit of the call.
 */

import type { FirstContact, RosterEntry, SourceRoster, ToolIndex } from "@toolcrib/inventory";
import { type GatewayPolicy, unknownSubject } from "@toolcrib/inventory";
import type { FairShare, InFlight } from "@toolcrib/lifecycle";
import { type Identity, identityKey, isListedFor } from "@toolcrib/tool";
import type { CallTarget } from "../call/call-target.ts";
import type { CallTargets } from "../call/call-targets.ts";
import { refusedCall } from "../call/refused-call.ts";
import type { UnknownTools } from "../service/unknown-tool.ts";

/** A call of a tool that is not listed. */
export interface LateRequest {
  readonly identity: Identity;
  readonly name: string;
  /** The server, in the view of one server, where names have no prefix. */
  readonly serverId: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Dependencies of `LateTools`. */
export interface LateToolsDeps {
  readonly index: ToolIndex;
  readonly policy: GatewayPolicy;
  readonly roster: Pick<SourceRoster, "entries">;
  readonly firstContact: FirstContact;
  readonly targets: CallTargets;
  readonly unknownTools: UnknownTools;
  readonly inFlight: InFlight;
  /** The places of calls in flight, of which a waiting call takes one. */
  readonly shares: FairShare;
  readonly maxConcurrentCalls: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Waits for the servers of tools that are not listed. */
export class LateTools {
  readonly #deps: LateToolsDeps;

  constructor(deps: LateToolsDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the target of a call, after its server made first contact. The time of the wait is part of the time limit.
   *
   * @throws {GatewayError} `TOOL_NOT_FOUND`, `CALLS_OVERLOADED`, `CALLS_SHARE_EXCEEDED`
   */
  async target(request: LateRequest): Promise<CallTarget> {
    const { index, firstContact, inFlight, shares, targets, unknownTools, maxConcurrentCalls, now } =
      this.#deps;
    const { identity, name, serverId, signal } = request;
    const entries = this.#serversOf(request);
    const limitMs = Math.max(0, ...entries.map(({ facts }) => facts.deadlineMs));
    const holder = identityKey(identity);
    const refusal = entries.length === 0 ? undefined : shares.refusalFor(holder);
    if (refusal !== undefined) throw refusedCall(refusal, maxConcurrentCalls);
    const waiting = firstContact.untilKnown(entries, limitMs, signal);
    if (waiting === undefined) throw unknownTools.errorFor(identity, name, serverId);
    const startedAt = now();
    inFlight.enter();
    shares.take(holder);
    try {
      await waiting;
    } finally {
      shares.giveBack(holder);
      inFlight.leave();
    }
    const found = serverId === undefined ? index.find(name) : index.findIn(serverId, name);
    if (found === undefined || !isListedFor(found.tool, identity))
      throw unknownTools.errorFor(identity, name, serverId);
    const target = targets.forTool(found, serverId === undefined);
    return { ...target, deadlineMs: Math.max(1, target.deadlineMs - (now() - startedAt)) };
  }

  /** Returns the sources that a tool of this name can belong to, provided that its caller may use the tool. */
  #serversOf({ identity, name, serverId }: LateRequest): readonly RosterEntry[] {
    const { roster, policy } = this.#deps;
    return roster.entries.filter((entry) => {
      const { id } = entry;
      const { namespace = id } = entry.facts;
      const own = serverId === undefined ? ownNameOf(namespace, name) : id === serverId ? name : undefined;
      if (own === undefined) return false;
      return policy.mayAllow(identity, unknownSubject(entry, own));
    });
  }
}

/** Returns the part of `name` after its namespace; undefined when it does not start with `namespace`. */
function ownNameOf(namespace: string, name: string): string | undefined {
  for (const separator of ["__", ":"]) {
    if (name.startsWith(`${namespace}${separator}`)) return name.slice(namespace.length + separator.length);
  }
  return undefined;
}
