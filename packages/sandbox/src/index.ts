// For other packages here.
export { sandboxCodes } from "./codes.ts";
export { SandboxError } from "./sandbox-error.ts";
export { defaultSandboxLimits, type SandboxPolicy } from "./sandbox-policy.ts";
export { Sandboxes } from "./sandboxes.ts";
export type { PreparedSandbox, TierReport } from "./tier.ts";
