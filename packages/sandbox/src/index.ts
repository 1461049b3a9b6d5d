// For other packages here.
export { sandboxCodes } from "./codes.ts";
export { defaultSandboxLimits, type SandboxLimits, type SandboxPolicy } from "./sandbox-policy.ts";
export { Sandboxes } from "./sandboxes.ts";
