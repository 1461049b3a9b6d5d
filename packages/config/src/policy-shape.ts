/**
 * The section `policy`: the tools, resources and prompts that each client may
 * use, the calls that need no approval, and the containment that no file may go below.
 */

import { dictionary, flag, integer, list, record, text, type ValueOf } from "@toolcrib/document";
import { containmentLevel } from "./containment-level.ts";
import { toCompletePath } from "./egress-shape.ts";
import { policyPatterns, toolPatterns } from "./pattern-shape.ts";
import { labelsShape } from "./tool-server-shape.ts";

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

const profile = text({
  description:
    "The profile that the client is bound to: its /mcp is that profile, and it may use nothing that is not in it.",
  maxLength: 64,
  examples: ["triage"],
});

const identityHint = "write identity: { issuer: …, subject: … }";

/** Most policy files, and most roles of a client. */
const maxFiles = 100;
const maxRoles = 100;

const files = list(
  text({
    description: "A file with policies in Cedar.",
    maxLength: 4096,
    examples: ["policies/main.cedar"],
  }),
  {
    description:
      "Files with policies in Cedar; paths are relative to the folder of this file. With at least one, what no policy permits is denied, and the lists apply, too. A change of a file applies at once.",
    maxItems: maxFiles,
  },
);

const roles = list(text({ description: "A role.", maxLength: 128, examples: ["support"] }), {
  description: 'Roles of the client in policies: principal in Role::"support".',
  maxItems: maxRoles,
});

export const policyShape = record({
  description: "Tools, resources and prompts that clients may use, and the least containment.",
  hints: {
    rules: "write allow and deny",
    roles: "write clients: { NAME: { roles: […] } }",
    cedar: "did you mean files?",
    policies: "did you mean files?",
    file: "did you mean files?",
  },
  fields: {
    ...rules,
    files,
    clients: dictionary(
      record({
        description: "Rules for one client, in addition to the general ones.",
        name: "PolicyRules",
        fields: { ...rules, roles, labels: labelsShape, identity, approvals, profile },
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

/** Returns `document` with complete paths of its files. @param fileName the file that contains it */
export function withCompletePolicyPaths(
  document: PolicyDocument | undefined,
  fileName: string,
): PolicyDocument | undefined {
  if (document?.files === undefined) return document;
  return { ...document, files: document.files.map((path) => toCompletePath(path, fileName)) };
}
