/**
 * What the parts of the conformance server share: how a change is announced
 * and how state that travels through the client is sealed. No I/O.
 */

import { randomBytes } from "node:crypto";
import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";

/** State that goes out in `requestState` and comes back through the client; signed, not secret. */
export interface RoundState {
  readonly tool: string;
  readonly round?: number;
  readonly name?: string;
}

export interface ConformanceContext {
  /** Seals and checks `requestState`; one key for every server instance of a process. */
  readonly codec: RequestStateCodec<RoundState>;
  /**
   * How a list change reaches the subscribers of other requests. Undefined
   * where the server instance itself owns the connection (stdio, sessions).
   */
  readonly announce?: { toolsChanged(): void; promptsChanged(): void };
}

/** A context with a fresh key, for one process. */
export function createConformanceContext(): ConformanceContext {
  return { codec: createRequestStateCodec<RoundState>({ key: randomBytes(32) }) };
}
