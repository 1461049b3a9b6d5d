/**
 * The secrets that each source has used, so that its responses can be scrubbed:
 * also of a secret that was replaced since. Each source has one scrubber, to
 * which new secrets are added.
 */

import { ByteScrubber, type KnownSecret } from "@toolcrib/redaction";
import type { EgressCredential, EgressSource } from "../egress-types.ts";
import { echoTextsOf, type ReadSecret } from "../inject/read-secret.ts";

/** Maximum number of sources whose secrets are remembered, and of secrets of one source. */
const maxSources = 1000;
const maxSecrets = 64;

interface SourceState {
  /** By credential and value, the most recent one at the end. */
  readonly secrets: Map<string, KnownSecret<EgressCredential>>;
  scrubber: ByteScrubber<EgressCredential> | undefined;
  /** Number of secrets in the scrubber that were forgotten. */
  forgottenCount: number;
}

/** Remembers the secrets that sources have used. */
export class SourceSecrets {
  readonly #states = new Map<string, SourceState>();

  /** Remembers `secrets` and returns a scrubber of all secrets of `source`; `undefined` if it has used none. */
  scrubberFor(
    { id }: EgressSource,
    secrets: readonly ReadSecret[],
  ): ByteScrubber<EgressCredential> | undefined {
    const state = this.#states.get(id) ?? { secrets: new Map(), scrubber: undefined, forgottenCount: 0 };
    if (secrets.length > 0 && !this.#states.has(id)) {
      this.#states.set(id, state);
      if (this.#states.size > maxSources) this.#states.delete(this.#states.keys().next().value as string);
    }
    for (const secret of secrets) learn(state, secret);
    if (state.secrets.size === 0) return undefined;
    state.scrubber ??= new ByteScrubber([...state.secrets.values()]);
    return state.scrubber;
  }

  /** Forgets all secrets. */
  clear(): void {
    this.#states.clear();
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
  if (state.secrets.size > maxSecrets) forget(state, state.secrets.keys().next().value as string);
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
