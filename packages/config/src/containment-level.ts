/** The values `deny`, `allow` and `scoped`, and the words that other programs use for them. */

import { choice } from "@toolcrib/document";

/** Returns the shape of a containment level. */
export const containmentLevel = (description: string) =>
  choice({
    description,
    values: ["deny", "allow", "scoped"],
    aliases: {
      none: "deny",
      block: "deny",
      blocked: "deny",
      denied: "deny",
      no: "deny",
      off: "deny",
      false: "deny",
      disabled: "deny",
      read_only: "deny",
      readonly: "deny",
      all: "allow",
      full: "allow",
      any: "allow",
      allowed: "allow",
      yes: "allow",
      on: "allow",
      true: "allow",
      enabled: "allow",
      unrestricted: "allow",
      restricted: "scoped",
      limited: "scoped",
      scope: "scoped",
      allowlist: "scoped",
    },
  });
