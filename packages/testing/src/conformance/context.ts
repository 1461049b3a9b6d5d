/**
 * The context of the conformance server: publishing list changes, and sealing the
 * state that the client sends back. No I/O.
 */

import { randomBytes } from "node:crypto";
import { createRequestStateCodec, type RequestStateCodec } from "@modelcontextprotocol/server";

/** State that the client gets in `requestState` and sends back; signed, not secret. */
export interface RoundState {
  readonly tool: string;
  readonly round?: number;
  readonly name?: string;
}

export interface ConformanceContext {
  /** Seals and checks `requestState`; one key for every server instance of a process. */
  readonly codec: RequestStateCodec<RoundState>;
  /**
   * Publishes a list change to the subscribers of other requests. Undefined if
   * the server instance owns the connection (stdio, sessions).
   */
  readonly announce?: { toolsChanged(): void; promptsChanged(): void };
}

/** Creates a context with a new key, for one process. */
export function createConformanceContext(): ConformanceContext {
  return { codec: createRequestStateCodec<RoundState>({ key: randomBytes(32) }) };
}
