/** Facts about the connection to a server. Types only. */

import type { JsonObject } from "@toolcrib/json";

/** Facts about the connection; fields are absent while there is none. */
export interface ServerFacts {
  readonly protocolVersion?: string;
  readonly serverInfo?: JsonObject;
  readonly pid?: number;
  /** Connections after the first one. */
  readonly restarts: number;
  /** Clients with a session of their own. */
  readonly clientSessions: number;
}
