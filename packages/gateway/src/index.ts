// Gateway. For users.

// For the registry, and for users who add sources or choose backends.
export type { PendingCall, WaitingApprovals } from "./approvals/approvals.ts";
export type { InspectedDefinition, WaitingDefinitions } from "./approvals/held-definitions.ts";
export { createCallIds } from "./call/call-id.ts";
export type {
  CallOptions,
  CallOutcome,
  Gateway,
  GatewayStatus,
  ToolHit,
  ToolSummary,
} from "./gateway.ts";
export { GatewayCore } from "./gateway-core.ts";
export { Pauses } from "./guards/pauses.ts";
export type { BackendSelector } from "./index/backend.ts";
export { ToolIndex } from "./index/tool-index.ts";
export { isReservedNamespace } from "./index/wire-name.ts";
export { explainPackage } from "./packages/judge-package.ts";
export { recordTestRun, testSummaryOf } from "./packages/test-records.ts";
export { type OfflinePolicy, openOfflinePolicy } from "./policy/offline-policy.ts";
export type { SourceStatus } from "./sources/source-roster.ts";
export { startGateway } from "./start-gateway.ts";
export { trustedCertificates } from "./trusted-certificates.ts";
