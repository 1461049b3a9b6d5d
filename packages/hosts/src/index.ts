// For other packages here.
export { findDenied, type HostDenylist, parseHostDenylist } from "./host-denylist.ts";
export {
  canonicalHost,
  type HostPattern,
  isHostAllowed,
  parseHostName,
  parseHostPattern,
} from "./host-pattern.ts";
