/**
 * The section `policy`: which tools may be used, by whom, and the containment
 * that no file may go below.
 */

import { dictionary, integer, record, type ValueOf } from "@toolcrib/document";
import { containmentLevel } from "./containment-level.ts";
import { toolPatterns } from "./pattern-shape.ts";

const rules = {
  allow: toolPatterns("Tools that may be listed and called. Without this list: all that are not denied."),
  deny: toolPatterns("Tools that may not, whatever allow says."),
};

export const policyShape = record({
  description: "Which tools may be used, and the least containment.",
  hints: { rules: "write allow and deny", roles: "write clients: { NAME: { allow: […], deny: […] } }" },
  fields: {
    ...rules,
    clients: dictionary(
      record({
        description: "Rules for one identity, besides the general ones.",
        name: "PolicyRules",
        fields: rules,
      }),
      {
        description: "Further rules by the name of the identity that calls: both must allow.",
        maxEntries: 1000,
        key: { source: "[A-Za-z0-9][A-Za-z0-9_.@-]{0,127}", meaning: "letters, digits and _ . - @" },
      },
    ),
    floor: record({
      description: "The least containment of every tool server. No later file may lower it.",
      name: "PolicyFloor",
      fields: {
        network_egress: containmentLevel("deny: no server may declare more. scoped: allow is refused."),
        filesystem_write: containmentLevel("deny: no server may declare more. scoped: allow is refused."),
        max_execution_seconds: integer({
          description: "Longest deadline that a server may declare, in seconds.",
          minimum: 1,
          maximum: 3600,
        }),
      },
      hints: { containment: "write its fields directly below floor" },
    }),
  },
});

/** `policy` as it is written. */
export type PolicyDocument = ValueOf<typeof policyShape>;
