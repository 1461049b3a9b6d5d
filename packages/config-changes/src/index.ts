// For other packages here.
export { clientKeysOf, elicitedClientsOf } from "./client-keys.ts";
export { commitSteps, PartlyInForceError, type TakeStep } from "./commit-steps.ts";
export {
  compareConfigs,
  isSameConfig,
  isSameServer,
  isSameToolspec,
  keepsServer,
} from "./compare-configs.ts";
export type { ConfigOutcome, ConfigStatus } from "./config-status.ts";
export type { PreparedSources } from "./prepared-sources.ts";
export { RetiredParts } from "./retired-parts.ts";
