// For other packages here.
export { findDenied, type HostDenylist, parseHostDenylist } from "./host-denylist.ts";
export {
  canonicalHost,
  type HostFault,
  type HostPattern,
  type HostVerdict,
  isHostAllowed,
  matchesHost,
  parseHostName,
  parseHostPattern,
} from "./host-pattern.ts";
