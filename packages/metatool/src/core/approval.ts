/**
 * Saved tools whose reach grew: such a tool does not run before the operator approves it. No client can
 * approve one, and neither can the person at it in a form: the client wrote the program, and a
 * program behind a client can answer forms itself.
 */

import { MetatoolError } from "../metatool-error.ts";
import type { CompositeError } from "../run/outcome.ts";
import type { MetatoolDeps } from "./metatool.ts";

/** Returns the error for a call of a tool that is not approved. */
export function pendingError(
  { homeFlag = "" }: Pick<MetatoolDeps, "homeFlag">,
  name: string,
  growth: readonly string[],
): CompositeError {
  return {
    type: "policy_error",
    message: `"${name}" was changed and can now ${describeGrowth(growth)}; it must be approved before it is called`,
    details: {
      needsApproval: growth,
      hint: `the operator can approve it: toolcrib${homeFlag} saved approve ${name}`,
    },
  };
}

/** Maximum number of ids in a message. */
const shownMax = 10;

/** Describes `growth` (see `growthOf`), such as `call github:createIssue and 3 more`. */
function describeGrowth(growth: readonly string[]): string {
  const ids = growth.filter((id) => id !== "*");
  const isDynamic = ids.length < growth.length;
  const more = ids.length > shownMax ? ` and ${ids.length - shownMax} more` : "";
  const named = `call ${ids.slice(0, shownMax).join(", ")}${more}`;
  if (!isDynamic) return named;
  const any = "choose any tool at run time";
  return ids.length === 0 ? any : `${named}, and ${any}`;
}

/** Returns the error for an unknown saved tool. */
export function notFound(name: string): MetatoolError {
  return new MetatoolError(
    "METATOOL_NOT_FOUND",
    `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`,
  );
}
