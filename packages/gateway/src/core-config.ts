/** What a core is given: its part of the configuration, and programs that run in it. Types only. */

import type { GatewayConfig } from "@toolcrib/config";
import type { CallContext } from "@toolcrib/tool";

/** The sections that a core needs. Without `execution`, composite tools are listed as its default says. */
export type CoreConfig = Pick<GatewayConfig, "policy" | "serve"> &
  Partial<Pick<GatewayConfig, "execution" | "guards" | "audit">>;

/** A program, and the call that runs it. */
export interface Program extends Pick<CallContext, "signal" | "deadline"> {
  readonly code: string;
}
