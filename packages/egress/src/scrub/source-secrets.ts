/**
 * The secrets that each source has used, so that its responses can be scrubbed:
 * also of a secret that was replaced since. Each source has one scrubber, to
 * which new secrets are added.
 */

import { ByteScrubber, type KnownSecret } from "@toolcrib/redaction";
import type { EgressCredential, EgressSource } from "../egress-types.ts";
import { echoTextsOf, type ReadSecret } from "../inject/read-secret.ts";

/**
 * Limits of what `SourceSecrets` remembers. With these, its scrubbers need at
 * most 100 MB. A source that was forgotten is known again by the secrets of its
 * next request.
 */
interface SourceSecretsLimits {
  /** Maximum number of sources whose secrets the egress remembers; it forgets the one that was used least recently. @default 1,000 */
  readonly maxSources: number;
  /** Maximum number of secrets of one source that the egress remembers; it forgets the one that was learned first. @default 64 */
  readonly maxSecrets: number;
  /** Maximum number of secrets of all sources together; the egress forgets the source that was used least recently. @default 2,000 */
  readonly maxAllSecrets: number;
}

const limits: SourceSecretsLimits = { maxSources: 1000, maxSecrets: 64, maxAllSecrets: 2000 };

interface SourceState {
  /** By credential and value, the most recent one at the end. */
  readonly secrets: Map<string, KnownSecret<EgressCredential>>;
  scrubber: ByteScrubber<EgressCredential> | undefined;
  /** Number of secrets in the scrubber that were forgotten. */
  forgottenCount: number;
}

/** Remembers the secrets that sources have used. */
export class SourceSecrets {
  /** By id of the source, the most recently used one at the end. */
  readonly #states = new Map<string, SourceState>();
  /** Number of secrets of all sources. */
  #count = 0;

  /** Remembers `secrets` and returns a scrubber of all secrets of `source`; `undefined` if it has used none. */
  scrubberFor(
    { id }: EgressSource,
    secrets: readonly ReadSecret[],
  ): ByteScrubber<EgressCredential> | undefined {
    const known = this.#states.get(id);
    if (known === undefined && secrets.length === 0) return undefined;
    const state = known ?? { secrets: new Map(), scrubber: undefined, forgottenCount: 0 };
    this.#states.delete(id);
    this.#states.set(id, state);
    const before = state.secrets.size;
    for (const secret of secrets) learn(state, secret);
    this.#count += state.secrets.size - before;
    while (this.#states.size > 1 && this.#isFull()) this.#forgetLeastRecent();
    state.scrubber ??= new ByteScrubber([...state.secrets.values()]);
    return state.scrubber;
  }

  /** Forgets all secrets. */
  clear(): void {
    this.#states.clear();
    this.#count = 0;
  }

  #isFull(): boolean {
    return this.#states.size > limits.maxSources || this.#count > limits.maxAllSecrets;
  }

  #forgetLeastRecent(): void {
    for (const [id, { secrets }] of this.#states) {
      this.#states.delete(id);
      this.#count -= secrets.size;
      return;
    }
  }
}

function learn(state: SourceState, secret: ReadSecret): void {
  const { credential, value } = secret;
  const { placeholder } = credential;
  const key = `${placeholder} ${value}`;
  if (state.secrets.has(key)) return;
  const known = { owner: credential, texts: echoTextsOf(secret), replacement: placeholder };
  state.secrets.set(key, known);
  state.scrubber?.add(known);
  if (state.secrets.size > limits.maxSecrets) forget(state, state.secrets.keys().next().value as string);
}

/** Forgets a secret. The scrubber keeps it until it has as many forgotten secrets as known ones. */
function forget(state: SourceState, key: string): void {
  state.secrets.delete(key);
  if (state.scrubber === undefined) return;
  state.forgottenCount += 1;
  if (state.forgottenCount < state.secrets.size) return;
  state.scrubber = undefined;
  state.forgottenCount = 0;
}
