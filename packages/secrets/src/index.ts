// For users.
export { type SecretsCode, secretsCodes } from "./codes.ts";
// For other packages here.
export { explainFileFailure } from "./file-failure.ts";
export { openSecretStore, type SecretStoreDeps } from "./file-secret-store.ts";
export type { SecretKeySettings } from "./key.ts";
export type { KeychainDeps } from "./keychain.ts";
export {
  type NamedSecret,
  type NamedSecretDeps,
  readNamedSecret,
  secretVariable,
} from "./named-secret.ts";
export {
  createEnvSource,
  createFileSource,
  createKeychainSource,
  createStoreSource,
  type Environment,
  type FileSourceOptions,
  type ReadSecretFile,
  type SecretSource,
} from "./secret-source.ts";
export type { SecretEntry, SecretStore } from "./secret-store.ts";
export { isSecretName, secretMaxBytes, toSecretValue } from "./secret-text.ts";
export { SecretsError } from "./secrets-error.ts";
export type { SecretChange } from "./watch-secrets.ts";
