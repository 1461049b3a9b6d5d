/**
 * The section `policy`: the tools, resources and prompts that each client may
 * use, and the containment that no file may go below.
 */

import { dictionary, integer, record, type ValueOf } from "@toolcrib/document";
import { containmentLevel } from "./containment-level.ts";
import { policyPatterns } from "./pattern-shape.ts";

const rules = {
  allow: policyPatterns(
    "Tools, resources and prompts that clients may list and use. Without this list: all that are not denied.",
  ),
  deny: policyPatterns("Tools, resources and prompts that clients may not use, even if allow has them."),
};

export const policyShape = record({
  description: "Tools, resources and prompts that clients may use, and the least containment.",
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
