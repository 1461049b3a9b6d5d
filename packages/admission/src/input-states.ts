/**
 * The state of questions to clients of the modern era (`requestState`, 2026-07-28). A client keeps it and sends it back
 * with its answers, so it is sealed: encrypted, because it holds the state of a server, and bound to the identity that
 * got it, to what was called and to the arguments. With another one of these, or after its time, it cannot be opened.
 *
 * The key exists in this process only: after a restart, clients call again.
 */

import { createCipheriv, createDecipheriv, hash } from "node:crypto";
import { canonicalJson, isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Identity, type InputRounds, identityKey } from "@toolcrib/tool";

/** Dependencies of `InputStates`. */
export interface InputStatesDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** The call that a state belongs to. */
export interface StateOwner {
  readonly identity: Identity;
  /** Id of the tool, resource or prompt. */
  readonly target: string;
  readonly args: JsonObject;
}

/** Contents of a sealed state. */
interface SealedState {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly callId: string;
  readonly state: string;
  /** A number that occurs once, where the operator approved the call. */
  readonly approved?: number;
}

/** Milliseconds for which a state can be sent back. @limit client */
const maxAgeMs = 600_000;
/** Approved calls that can be continued at a time; a later one needs an approval of its own. @limit client */
const maxApproved = 10_000;
const ivBytes = 12;
const tagBytes = 16;

/** Seals and opens the states of one gateway. */
export class InputStates {
  readonly #deps: InputStatesDeps;
  #key: Uint8Array | undefined;
  #count = 0;
  /** Approved calls that nothing continued, by their number, with the time until which that is possible. */
  readonly #approved = new Map<number, number>();

  constructor(deps: InputStatesDeps) {
    this.#deps = deps;
  }

  /** Returns questions with their state sealed. @param isApproved whether the operator approved the call */
  seal(
    result: JsonObject,
    owner: StateOwner,
    { callId, isApproved }: { readonly callId: string; readonly isApproved: boolean },
  ): JsonObject {
    const { requestState } = result;
    const expiresAt = this.#deps.now() + maxAgeMs;
    const approved = isApproved ? this.#addApproved(expiresAt) : undefined;
    const sealed: SealedState = {
      expiresAt,
      callId,
      state: typeof requestState === "string" ? requestState : "",
      ...(approved === undefined ? {} : { approved }),
    };
    const iv = this.#deps.randomBytes(ivBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#sealingKey(), iv);
    cipher.setAAD(bindingOf(owner));
    const text = Buffer.concat([cipher.update(JSON.stringify(sealed), "utf8"), cipher.final()]);
    return { ...result, requestState: Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64url") };
  }

  /**
   * Returns the round that `params` continue: no round before the first one.
   *
   * @returns as a text, why the answers or the state are not those of this call
   */
  open({ inputResponses: responses, requestState }: JsonObject, owner: StateOwner): InputRounds | string {
    if (
      responses !== undefined &&
      !(isJsonObject(responses) && Object.values(responses).every(isJsonObject))
    ) {
      return '"inputResponses" must be an object of objects';
    }
    if (requestState === undefined) return { responses };
    if (typeof requestState !== "string") return '"requestState" must be a string';
    const sealed = this.#unseal(requestState, owner);
    if (sealed === undefined || sealed.expiresAt < this.#deps.now()) {
      return '"requestState" is not that of this call: it was changed, is older than 10 minutes or than the gateway, or belongs to another client, tool or arguments';
    }
    const { callId, state, approved } = sealed;
    const isApproved = approved !== undefined && this.#approved.delete(approved);
    return {
      responses,
      state: state === "" ? undefined : state,
      continues: callId,
      ...(isApproved ? { isApproved } : undefined),
    };
  }

  #unseal(text: string, owner: StateOwner): SealedState | undefined {
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length <= ivBytes + tagBytes || this.#key === undefined) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, ivBytes));
    decipher.setAAD(bindingOf(owner));
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    try {
      const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
      return JSON.parse(plain.toString("utf8")) as SealedState;
    } catch {
      // Changed, sealed by another process, or that of another call.
      return undefined;
    }
  }

  #addApproved(expiresAt: number): number | undefined {
    for (const [number, until] of this.#approved) {
      if (until >= this.#deps.now()) break;
      this.#approved.delete(number);
    }
    if (this.#approved.size >= maxApproved) return undefined;
    this.#count += 1;
    this.#approved.set(this.#count, expiresAt);
    return this.#count;
  }

  #sealingKey(): Uint8Array {
    this.#key ??= this.#deps.randomBytes(32);
    return this.#key;
  }
}

function bindingOf({ identity, target, args }: StateOwner): Buffer {
  const digest = hash("sha256", canonicalJson(args), "hex");
  return Buffer.from(JSON.stringify([identityKey(identity), target, digest]), "utf8");
}
