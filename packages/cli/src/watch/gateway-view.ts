/** The state of the gateway of a home, as a live view knows it: it runs, is lost, or never ran. Heals when a gateway answers again. */

import { isCodedError } from "@toolcrib/diagnostics";
import { findReachableGateways } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { type RunningFacts, readRunning } from "../serve/running-facts.ts";

/** The state of the gateway. */
export type GatewayView =
  | { readonly kind: "running"; readonly facts: RunningFacts }
  /** `facts`: what was known last; absent where no gateway ran since the view began. */
  | {
      readonly kind: "absent";
      readonly reason: string;
      readonly since: number;
      readonly facts?: RunningFacts;
    };

/** Reads the state. @param last the state before it */
export async function readGatewayView(
  context: CliContext,
  last: GatewayView | undefined,
): Promise<GatewayView> {
  const [running, ...others] = await findReachableGateways(context.options.home);
  const facts = last?.facts;
  const since = last?.kind === "absent" ? last.since : context.now();
  if (running === undefined) {
    return { kind: "absent", reason: `no gateway is running for ${context.options.home}`, since, facts };
  }
  try {
    return { kind: "running", facts: await readRunning(context, running, others, facts) };
  } catch (error) {
    if (!isCodedError(error) || context.signal.aborted) throw error;
    return { kind: "absent", reason: error.message, since, facts };
  }
}
