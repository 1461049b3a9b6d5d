// For users.
export { type RegistryCode, registryCodes } from "./codes.ts";
export type { LocalHandler, LocalToolOptions } from "./local-source.ts";
export { createRegistry } from "./registry.ts";
export { RegistryError, registryRpcCodes } from "./registry-error.ts";
export type {
  BackendConfig,
  ListToolsOptions,
  Registry,
  RegistryChange,
  RegistryConfig,
  RegistryHealth,
} from "./registry-types.ts";
