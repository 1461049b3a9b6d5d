// For other packages here.
export { pathsInArgument } from "./argument-paths.ts";
export { adviceOn } from "./containment-advice.ts";
export { exitPort } from "./network-exit.ts";
export { findRefusedNeed } from "./refused-need.ts";
export { defaultSandboxLimits, type SandboxLimits, type SandboxPolicy } from "./sandbox-policy.ts";
export { Sandboxes } from "./sandboxes.ts";
export { seatbeltProfile } from "./seatbelt-profile.ts";
export { refusedCalls } from "./seccomp/refused-calls.ts";
export { assembleSeccompProgram } from "./seccomp/seccomp-program.ts";
export {
  type ContainedServer,
  type ContainmentState,
  hiddenPathsOf,
  type SealedProcess,
  ServerSandboxes,
} from "./server-sandboxes.ts";
export { chooseStartParent } from "./start-folders.ts";
export { unseenArguments } from "./unseen-arguments.ts";
