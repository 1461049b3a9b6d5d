// For other packages here.
export {
  type AccessSubject,
  createGatewayPolicy,
  type FeatureKind,
  featureSubject,
  type GatewayPolicy,
  subjectOfId,
  unknownSubject,
} from "./access-subject.ts";
export { fromWireUri, isAppOnly, showsApps, withWireContents } from "./app-resources.ts";
export { type Backend, type BackendSelector, selectByKind } from "./backend.ts";
export { type Block, blockOf, violationsOf } from "./blocked-target.ts";
export type { IndexedTool } from "./build-index.ts";
export { checkSources } from "./check-sources.ts";
export { disabledSources } from "./disabled-sources.ts";
export {
  type CompletionReference,
  findPrompt,
  findReference,
  findResource,
  type IsAllowed,
  listPrompts,
  listResources,
  listResourceTemplates,
  offersOf,
  reasonAgainstPrompt,
  reasonAgainstResource,
} from "./feature-routes.ts";
export { FirstContact, type ListingClient } from "./first-contact.ts";
export { findIdleRules, type IdleRule, warnAboutIdleRules } from "./idle-rules.ts";
export { type PolicyTargets, policyTargetsOf } from "./policy-targets.ts";
export { toFinding } from "./quarantine-finding.ts";
export {
  compositeFacts,
  deadlineOf,
  ownFacts,
  type SourceDetails,
  type SourceFacts,
} from "./source-facts.ts";
export {
  type FeatureSource,
  type RosterEntry,
  SourceRoster,
  type SourceStatus,
  type SourceStatuses,
} from "./source-roster.ts";
export { ToolIndex } from "./tool-index.ts";
export { Visibility } from "./visibility.ts";
export { foldsOf, isReservedNamespace, toWireName, wireNameOfId } from "./wire-name.ts";
