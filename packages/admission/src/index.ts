// For other packages here.
export {
  type ApprovableSteps,
  type ApprovalStepDeps,
  askApproval,
  checkedOrigin,
  isApprovalNeeded,
} from "./approval-step.ts";
export { Approvals, type PendingCall, type WaitingApprovals } from "./approvals.ts";
export { type CallJournal, CallJournals, type InnerOutcome, type JournalEnd } from "./call-journals.ts";
export type { CallLimits } from "./call-limits.ts";
export { createCallLimits, createGuards, type GuardDeps } from "./create-guards.ts";
export {
  HeldDefinitions,
  holdBy,
  type InspectedDefinition,
  isNotApproved,
  type WaitingDefinitions,
  type WaitingServer,
} from "./held-definitions.ts";
export {
  type FeaturePinning,
  type HeldFeature,
  type HeldFeatures,
  holdFeatures,
  holdNothing,
} from "./held-features.ts";
export { InputStates, type InputStatesDeps, type StateOwner } from "./input-states.ts";
export { dataLabelled, type LabelledCall, LabelTracker } from "./label-tracker.ts";
export { openPins } from "./open-pins.ts";
export { type ApprovalBinding, policyDigestOf } from "./outdated-call.ts";
export { type PauseStatus, Pauses } from "./pauses.ts";
export { RelayLimit } from "./relay-limit.ts";
export { scrubCause, scrubError } from "./scrub-error.ts";
export { type Switchable, Switches, type SwitchOutcome } from "./switches.ts";
export { watchApprovals } from "./watch-approvals.ts";
