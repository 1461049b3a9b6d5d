/** The dependencies of the service. Types only. */

import type { InputStatesDeps, Pauses, RelayLimit } from "@toolcrib/admission";
import type { ClientTools, LongResults } from "@toolcrib/discovery";
import type { Tasks } from "@toolcrib/extensions";
import type { GatewayPolicy, ListingClient, SourceRoster, ToolIndex, Visibility } from "@toolcrib/inventory";
import type { JsonObject, SchemaValidator } from "@toolcrib/json";
import type { ServerInfo } from "@toolcrib/mcp";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { CallOrigin, CallTarget } from "../call/call-target.ts";
import type { CallTargets } from "../call/call-targets.ts";
import type { CallOutcome } from "../gateway.ts";
import type { LateRequest } from "../sources/late-tools.ts";
import type { UnknownTools } from "./unknown-tool.ts";

/** Dependencies of the service. */
export interface GatewayServiceDeps extends InputStatesDeps {
  readonly serverInfo: ServerInfo;
  readonly index: ToolIndex;
  readonly policy: GatewayPolicy;
  readonly roster: Pick<SourceRoster, "entries" | "featureSources">;
  /** The tools that each client is listed. */
  readonly tools: ClientTools;
  /** Keeps the rest of long results. */
  readonly results: LongResults;
  readonly validator: SchemaValidator;
  /**
   * Waits until the lists of the sources are known, once for each client; undefined when there is nothing to wait for.
   * @param serverId waits for one server only
   */
  readonly untilListed: (client: ListingClient, serverId: string | undefined) => Promise<void> | undefined;
  readonly unknownTools: Pick<UnknownTools, "errorFor">;
  /** Waits for the server of an unknown tool while it starts. @throws {GatewayError} `TOOL_NOT_FOUND` */
  readonly lateTarget: (request: LateRequest) => Promise<CallTarget>;
  readonly targets: CallTargets;
  /** Runs a target through the governed call. */
  readonly call: (target: CallTarget, args: JsonObject, origin: CallOrigin) => Promise<CallOutcome>;
  readonly visibility: Pick<Visibility, "mayReach" | "isUsable">;
  readonly tasks: Tasks;
  readonly pauses: Pick<Pauses, "refusal">;
  /** Limits the messages to each client. */
  readonly relays: RelayLimit;
  /** Removes known secrets from lists and errors. */
  readonly scrubber: SecretScrubber;
  /** Items on one page of a list. */
  readonly pageSize: number;
  /** Differs between two runs of the program. */
  readonly run: string;
}
