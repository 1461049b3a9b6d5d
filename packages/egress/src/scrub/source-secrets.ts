/**
 * The secrets that sources have used, by source, so that their responses can
 * be scrubbed of them: also of a secret that was exchanged for another a moment
 * ago. A scrubber is made once for each set of secrets.
 */

import type { EgressSource } from "../egress-types.ts";
import { type ReadSecret, secretTextsOf } from "../inject/read-secret.ts";
import { createSecretScrubber, type KnownSecret, type SecretScrubber } from "./secret-scrubber.ts";

/** Remembers the secrets that sources have used. */
export interface SourceSecrets {
  /** Remember `secrets`, and get what takes these and earlier ones of `source` out; `undefined` when there are none. */
  scrubberFor(source: EgressSource, secrets: readonly ReadSecret[]): SecretScrubber | undefined;
  /** Forget everything. */
  clear(): void;
}

/** Most sources whose secrets are remembered, and most secrets of one. */
const maxSources = 1000;
const maxSecrets = 64;

interface SourceState {
  /** By credential and value, the one used last at the end. */
  readonly secrets: Map<string, KnownSecret>;
  scrubber: SecretScrubber | undefined;
}

/** Create a memory that holds nothing yet. */
export function createSourceSecrets(): SourceSecrets {
  const states = new Map<string, SourceState>();
  return {
    scrubberFor({ id }, secrets) {
      const state = states.get(id) ?? { secrets: new Map(), scrubber: undefined };
      if (secrets.length > 0 && !states.has(id)) {
        states.set(id, state);
        if (states.size > maxSources) states.delete(states.keys().next().value as string);
      }
      for (const secret of secrets) learn(state, secret);
      if (state.secrets.size === 0) return undefined;
      state.scrubber ??= createSecretScrubber([...state.secrets.values()]);
      return state.scrubber;
    },
    clear: () => states.clear(),
  };
}

function learn(state: SourceState, secret: ReadSecret): void {
  const { credential, value } = secret;
  const key = `${credential.placeholder} ${value}`;
  if (state.secrets.has(key)) return;
  state.secrets.set(key, { credential, texts: secretTextsOf(secret) });
  if (state.secrets.size > maxSecrets) state.secrets.delete(state.secrets.keys().next().value as string);
  state.scrubber = undefined;
}
