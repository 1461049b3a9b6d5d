/**
 * The budget of each client in the audit trail: the bytes of records that its calls
 * may cause in 24 hours. Beyond it the calls of this client are refused, so that
 * nobody can flush evidence out of the trail by calling. Refusals are recorded for
 * a while, then counted, and the count is recorded once a minute.
 *
 * Completions are always recorded, because their calls were admitted. Records
 * without a client have no budget. Counts are in memory: a restart clears them, and
 * no client can cause one.
 */

import type { AuditClient, AuditEvents, AuditEventType, AuditLimited } from "./audit-event.ts";

/**
 * The treatment of a record. `refuse-first`: refuse it; the one before was written.
 * `count`: do not write it, it is part of the next summary.
 */
export type Admission = "write" | "refuse" | "refuse-first" | "count";

const slotMs = 60 * 60 * 1000;
const slotCount = 24;
/** Part of the budget that refusals may use in addition. */
const refusalPart = 1 / 16;
/** Events that calls cause without an intent. */
const countedTypes: ReadonlySet<AuditEventType> = new Set([
  "call.denied",
  "containment.violation",
  "mutability.violation",
]);
/** Maximum number of clients with a count of their own. The others share one. */
const maxClients = 10_000;

/** The budgets of all clients. */
export class RecordBudget {
  readonly #limitBytes: number;
  readonly #spending = new Map<string | undefined, Map<string | undefined, Spending>>();
  readonly #summaries = new Map<Spending, Summary>();
  readonly #overflow = new Spending();
  #clientCount = 0;
  #cleanedAt = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Decides about a record of `bytes` UTF-16 units and counts it if it is written.
   *
   * @param now Milliseconds since the epoch.
   */
  admit<Type extends AuditEventType>(
    type: Type,
    data: AuditEvents[Type],
    { bytes, now }: { readonly bytes: number; readonly now: number },
  ): Admission {
    const { client } = data as { readonly client?: AuditClient };
    if (client === undefined) return "write";
    const spending = this.#spendingOf(client, now);
    const spent = spending.advance(now);
    if (type === "call.intent") {
      const wasSpent = spending.isSpent;
      spending.isSpent = spent >= this.#limitBytes;
      if (spending.isSpent) return wasSpent ? "refuse" : "refuse-first";
    }
    if (countedTypes.has(type) && spent >= this.#limitBytes * (1 + refusalPart)) {
      this.#count(spending, client, now);
      return "count";
    }
    spending.add(bytes);
    return "write";
  }

  /** Returns the summary of each client with counted records, and forgets them. */
  takeSummaries(): readonly AuditLimited[] {
    const summaries = [...this.#summaries.values()].map(({ client, count, from, to }) => ({
      client,
      count,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      limitBytes: this.#limitBytes,
    }));
    this.#summaries.clear();
    return summaries;
  }

  #count(spending: Spending, client: AuditClient, now: number): void {
    const summary = this.#summaries.get(spending);
    if (summary === undefined) {
      this.#summaries.set(spending, { client, count: 1, from: now, to: now });
    } else {
      summary.count += 1;
      summary.to = now;
    }
  }

  #spendingOf({ issuer, subject }: AuditClient, now: number): Spending {
    let ofIssuer = this.#spending.get(issuer);
    const known = ofIssuer?.get(subject);
    if (known !== undefined) return known;
    if (this.#clientCount >= maxClients) return this.#shared(now);
    this.#clientCount += 1;
    const spending = new Spending();
    if (ofIssuer === undefined) {
      ofIssuer = new Map();
      this.#spending.set(issuer, ofIssuer);
    }
    ofIssuer.set(subject, spending);
    return spending;
  }

  /** The count of all clients beyond the maximum. Once an hour, clients that spent nothing in 24 hours make room. */
  #shared(now: number): Spending {
    if (Math.abs(now - this.#cleanedAt) < slotMs) return this.#overflow;
    this.#cleanedAt = now;
    for (const ofIssuer of this.#spending.values()) {
      for (const [subject, spending] of ofIssuer) {
        if (spending.advance(now) > 0) continue;
        ofIssuer.delete(subject);
        this.#clientCount -= 1;
      }
    }
    return this.#overflow;
  }
}

interface Summary {
  readonly client: AuditClient;
  count: number;
  /** Milliseconds since the epoch of the first and the last counted record. */
  readonly from: number;
  to: number;
}

/** The bytes of one client in the last 24 hours, in slots of one hour. */
class Spending {
  readonly #slots = new Float64Array(slotCount);
  #slot = 0;
  #total = 0;
  /** Whether the last call was refused. */
  isSpent = false;

  /** Forgets the slots that are too old, and returns the total. A clock that goes back changes nothing. */
  advance(now: number): number {
    const slot = Math.floor(now / slotMs);
    if (slot > this.#slot) {
      const first = Math.max(this.#slot + 1, slot - slotCount + 1);
      for (let each = first; each <= slot; each += 1) {
        this.#total -= this.#slots[each % slotCount]!;
        this.#slots[each % slotCount] = 0;
      }
      this.#slot = slot;
    }
    return this.#total;
  }

  add(bytes: number): void {
    this.#slots[this.#slot % slotCount]! += bytes;
    this.#total += bytes;
  }
}
