/** A call as pauses and limits see it. Types only. */

import type { CallContext, ToolId } from "@toolcrib/tool";

/** The tool, resource or prompt that is called. */
export interface GuardedTarget {
  readonly id: ToolId;
  readonly wireName: string;
  /** Id of its configured source; undefined for other sources. */
  readonly server: string | undefined;
  /** Its name in messages to the client. */
  readonly shownName: string;
  /** Whether it is one of Toolcrib's own tools. */
  readonly isOwn: boolean;
}

/** The client that calls, and the owners of saved tools around the call. */
export type GuardedOrigin = Pick<CallContext, "identity" | "owners">;
