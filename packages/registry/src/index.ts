// For users.
export { createRegistry } from "./registry.ts";
export { RegistryError } from "./registry-error.ts";
export type {
  Registry,
  RegistryConfig,
} from "./registry-types.ts";
