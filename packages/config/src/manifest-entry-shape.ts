/**
 * The shapes of what an entry says about a manifest, whether that is paired with a
 * toolspec or adopts a server: the secrets of its credentials, and the tools that
 * are offered.
 */

import { dictionary, either, invalid, list, record, type Shape, text } from "@toolcrib/document";
import type { SecretRef } from "@toolcrib/secrets";
import { quote } from "./display-source.ts";
import { identitySecretKeyRef, reportInline, secretKeyRef } from "./text-shape.ts";

const toolName = { source: "[A-Za-z0-9_.-]{1,128}", meaning: "the name of a tool" };

function createCredentialRecord(name: string, ref: Shape<SecretRef>) {
  return record({
    name,
    description: "Location of the secret of the credential.",
    fields: { secret_key_ref: { required: ref } },
    hints: {
      env: "write secret_key_ref: { env: NAME }",
      file: "write secret_key_ref: { file: PATH }",
      store: "write secret_key_ref: { store: NAME }",
      prefix: "remove it: the manifest defines how the secret is sent",
      secret_ref: "did you mean secret_key_ref?",
      secretKeyRef: "did you mean secret_key_ref?",
      value: "the configuration never contains a secret: write secret_key_ref: NAME",
    },
  });
}

/** `{ secret_key_ref: … }`. A text in its place is treated as the secret itself and never quoted. */
export const credentialShape = createCredentialShape("Credential", secretKeyRef);

function createCredentialShape(name: string, ref: Shape<SecretRef>): Shape<SecretRef> {
  const credentialRecord = createCredentialRecord(name, ref);
  return {
    check(node, place) {
      if (node.kind === "scalar" && node.text !== "") {
        return reportInline(
          node,
          place,
          `credential ${quote(place.key)} contains a literal`,
          `write ${place.key}: { secret_key_ref: NAME } and run toolcrib secret set NAME`,
        );
      }
      return credentialRecord.check(node, place)?.secret_key_ref;
    },
    toJsonSchema: credentialRecord.toJsonSchema,
  };
}

const credentialsOptions = {
  description: "The secret of each credential in the manifest, by the id of the credential.",
  maxEntries: 32,
  key: { source: "[A-Za-z0-9_.-]{1,128}", meaning: "the id of a credential of the manifest" },
} as const;

/** The secrets of an entry, by the ids of the credentials of its manifest. */
export const credentialsShape = dictionary(credentialShape, credentialsOptions);
/** Those of a toolspec, which may be one per identity. */
export const identityCredentialsShape = dictionary(
  createCredentialShape("IdentityCredential", identitySecretKeyRef),
  credentialsOptions,
);

const allTools: Shape<"all"> = {
  check(node, place) {
    if (node.kind === "scalar" && node.value === "all") return "all";
    return invalid(
      node,
      place,
      `${quote(place.path)} must be all, or a list of tools`,
      "write tools: all, tools: [NAME, NAME], or tools: [default, NAME]",
    );
  },
  toJsonSchema: () => ({ const: "all", description: "Every tool of the toolspec." }),
};

const toolNames = list(
  text({ description: "A tool, by its name in the toolspec.", pattern: toolName, maxLength: 128 }),
  {
    description: "These tools. An entry default adds those that the manifest marks with default: true.",
    maxItems: 1000,
    emptyCode: "CONFIG_INVALID_VALUE",
  },
);

/** The tools that an entry offers. */
export const chosenToolsShape = either(
  (node) => node.kind !== "list",
  allTools,
  toolNames,
  "Offered tools: all, or a list. Default: the tools that the manifest marks with default: true.",
);
