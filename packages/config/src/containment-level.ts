/** `deny`, `allow` or `scoped`, and what other programs call them. */

import { choice } from "@toolcrib/document";

/** A level of containment. */
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
