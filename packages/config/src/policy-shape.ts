/**
 * The section `policy`: the tools, resources and prompts that each client may
 * use, the calls that need no approval, and the containment that no file may go below.
 */

import { dictionary, flag, integer, record, text, type ValueOf } from "@toolcrib/document";
import { containmentLevel } from "./containment-level.ts";
import { policyPatterns, toolPatterns } from "./pattern-shape.ts";

const rules = {
  allow: policyPatterns(
    "Tools, resources and prompts that clients may list and use. Without this list: all that are not denied.",
  ),
  deny: policyPatterns("Tools, resources and prompts that clients may not use, even if allow has them."),
};

const identity = record({
  description: "The identity that the rules apply to, for a client that an identity provider authenticates.",
  name: "PolicyIdentity",
  fields: {
    issuer: {
      required: text({
        description: "The issuer, exactly as the provider states it.",
        maxLength: 2048,
        examples: ["https://id.example.com"],
      }),
    },
    subject: {
      required: text({ description: "Id of the client at the issuer, not its name.", maxLength: 1024 }),
    },
  },
});

const approvals = record({
  description: "How this client can approve calls of unverified servers.",
  name: "PolicyApprovals",
  fields: {
    elicitation: flag(
      "Whether the person at the client may approve its own calls, in a form that the client shows (MCP elicitation). Only for a client that a person uses: a program can answer the form itself.",
      { default: false },
    ),
  },
});

const identityHint = "write identity: { issuer: …, subject: … }";

export const policyShape = record({
  description: "Tools, resources and prompts that clients may use, and the least containment.",
  hints: { rules: "write allow and deny", roles: "write clients: { NAME: { allow: […], deny: […] } }" },
  fields: {
    ...rules,
    clients: dictionary(
      record({
        description: "Rules for one client, in addition to the general ones.",
        name: "PolicyRules",
        fields: { ...rules, identity, approvals },
        hints: { issuer: identityHint, subject: identityHint },
      }),
      {
        description: "Further rules by the name of a client (a token, cli, stdio): both must allow.",
        maxEntries: 1000,
        key: { source: "[A-Za-z0-9][A-Za-z0-9_.@-]{0,127}", meaning: "letters, digits and _ . - @" },
      },
    ),
    waive_approval: toolPatterns(
      "Tools of unverified servers that are called without an approval of each call, although they are not known to be read-only.",
    ),
    floor: record({
      description: "Minimum containment for all tool servers. A later file cannot lower it.",
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
