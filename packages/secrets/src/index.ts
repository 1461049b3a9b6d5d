// For users.
// For other packages here.
export { explainFileFailure } from "./file-failure.ts";
export { openSecretStore } from "./file-secret-store.ts";
export {
  type NamedSecret,
  readNamedSecret,
  secretVariable,
} from "./named-secret.ts";
export { SecretCache } from "./secret-cache.ts";
export { refFor, type SecretRef, secretNameOf } from "./secret-ref.ts";
export { createSecretSource, type SecretSource } from "./secret-source.ts";
export { isSecretName, secretMaxBytes, toSecretValue } from "./secret-text.ts";
export { SecretsError } from "./secrets-error.ts";
