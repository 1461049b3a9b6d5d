// For users.
export type { CallContext, ClientInfo, ClientSession, Era, InputRounds } from "./call-context.ts";
export {
  checkDefinition,
  type DefinitionKind,
  formatProblems,
} from "./check-definition.ts";
export { type CheckedFeatures, checkFeatures } from "./check-features.ts";
export { foldName } from "./fold-name.ts";
export {
  clientArgument,
  hasRole,
  type Identity,
  identityKey,
  isLocalIssuer,
  isOperator,
  isSameIdentity,
  issuerName,
  localIdentity,
  localIdentityKeys,
  type Role,
  rightsKey,
} from "./identity.ts";
export { metaToolNames, ownNamespace, savedNamespace } from "./own-names.ts";
export {
  type ContentBlock,
  failedResult,
  isInputRequired,
  isListedFor,
  normalizeTags,
  type Origin,
  type Tool,
  type ToolAnnotations,
  type ToolDefinition,
  type ToolId,
  type ToolResult,
  textResult,
  toToolId,
} from "./tool.ts";
export type {
  Health,
  PlannedCall,
  ResourceWatcher,
  SourceChange,
  SourceFeatures,
  ToolSource,
  Unsubscribe,
} from "./tool-source.ts";
