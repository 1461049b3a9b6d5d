// Gateway. For users.

// For the registry, and for users who add sources or choose backends.
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
export { startGateway } from "./start-gateway.ts";
export { trustedCertificates } from "./trusted-certificates.ts";
