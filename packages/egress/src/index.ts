// For users.

// For other packages here.
export { AddressRules, isMetadataAddress } from "./address/address-rules.ts";
export { parseAuthority } from "./authority.ts";
export { createEgress } from "./create-egress.ts";
export type {
  Egress,
  EgressCredential,
  EgressEvent,
  EgressProxy,
  EgressSettings,
  EgressSource,
} from "./egress-types.ts";
export { NameServer } from "./names/name-server.ts";
export { ClientHelloReader } from "./passthrough/client-hello.ts";
export {
  createAuthority,
  readAuthority,
} from "./proxy/local-authority.ts";
export { proxyVariables } from "./proxy/proxy-variables.ts";
export { createRecordedEgress } from "./recorded-egress.ts";
export { openSandboxExit, parseAllowedHost } from "./sandbox-exit.ts";
export { createPlaceholder } from "./scan/placeholder.ts";
export { ServerExits } from "./server-exits.ts";
