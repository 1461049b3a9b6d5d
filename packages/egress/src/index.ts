// For users.
export { type Authority, parseAuthority } from "./authority.ts";
export { createEgress } from "./create-egress.ts";
export { EgressError } from "./egress-error.ts";
export type {
  CredentialPlace,
  Egress,
  EgressCredential,
  EgressDeps,
  EgressEvent,
  EgressEventOrigin,
  EgressProxy,
  EgressRequest,
  EgressResponse,
  EgressSettings,
  EgressSource,
  ResolveHost,
} from "./egress-types.ts";
// For other packages here.
export {
  type AuthorityDeps,
  type CertificateAndKey,
  createAuthority,
  type Leaf,
  type LocalAuthority,
  readAuthority,
} from "./proxy/local-authority.ts";
export { createPlaceholder, isPlaceholder } from "./scan/placeholder.ts";
