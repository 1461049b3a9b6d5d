/**
 * The sandbox of composites that run in processes of their own (`execution.isolation:
 * "process"`): no network, no file but Toolcrib's own programs, nothing to write to.
 * Where this machine has no sandbox, `sandbox.mode` decides: an execution fails, or it
 * runs uncontained after a warning.
 */

import { isCodedError, type Logger } from "@toolcrib/diagnostics";
import type { ContainedRequest, SpawnRequest } from "@toolcrib/process";
import { defaultSandboxLimits, type Sandboxes, type SandboxPolicy } from "@toolcrib/sandbox";

/** Dependencies of the sandboxes of composites. */
export interface CompositeSandboxDeps {
  readonly sandboxes: Sandboxes;
  /** `sandbox.mode` of the configuration. */
  readonly mode: "required" | "preferred";
  readonly hiddenPaths: readonly string[];
  readonly logger: Logger;
}

/** Node starts about a dozen threads; a composite starts none. */
const limits = { ...defaultSandboxLimits, processes: 64, temporaryBytes: 1024 * 1024 };

/** Returns the function that contains the process of one execution. It throws `SANDBOX_UNAVAILABLE` with `required`. */
export function containComposites({
  sandboxes,
  mode,
  hiddenPaths,
  logger,
}: CompositeSandboxDeps): (request: SpawnRequest) => Promise<ContainedRequest> {
  const policy: SandboxPolicy = {
    network: "deny",
    readPaths: [],
    writePaths: [],
    home: "temporary",
    hiddenPaths,
    limits,
  };
  let isWarned = false;
  return async (request) => {
    try {
      return await sandboxes.prepare(request, policy);
    } catch (error) {
      if (!isCodedError(error) || error.code !== "SANDBOX_UNAVAILABLE" || mode === "required") throw error;
      if (!isWarned) {
        const { message: reason, hint } = error;
        logger.warn({ reason, hint }, "composites run UNCONTAINED (sandbox.mode: preferred)");
      }
      isWarned = true;
      return { request, async [Symbol.asyncDispose]() {} };
    }
  };
}
