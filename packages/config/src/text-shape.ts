/**
 * The shapes of header and environment variable values: literals, or references
 * to secrets. They refuse a literal that is or may be a credential, and never
 * quote it.
 */

import {
  choice,
  type DocumentNode,
  either,
  type Inspect,
  invalid,
  listOf,
  type Place,
  record,
  reportAt,
  type Shape,
  text,
  type ValueOf,
} from "@toolcrib/document";
import {
  isCredentialHeader,
  isCredentialVariable,
  looksLikeCredential,
  secretVerdict,
} from "@toolcrib/redaction";
import type { SecretRef } from "@toolcrib/secrets";
import type { ConfigText } from "./config-types.ts";
import { quote } from "./display-source.ts";

const secretName = {
  source: "[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,126}[A-Za-z0-9_-])?",
  meaning: "a name of letters, digits, _ - and . (at most 128)",
};
const environmentName = {
  source: "[A-Za-z_][A-Za-z0-9_]{0,127}",
  meaning: "the name of an environment variable (letters, digits and _)",
};

const placeFields = {
  env: text({
    description: "An environment variable of the gateway.",
    pattern: environmentName,
    isNameOfSecret: true,
    maxLength: 128,
  }),
  file: text({
    description:
      "A file that contains only the secret; relative to the folder of this file. A trailing line break is removed. Other users must not be able to read the file.",
    maxLength: 4096,
  }),
  store: text({
    description: "A name in the encrypted secret store (toolcrib secret set NAME).",
    pattern: secretName,
    isNameOfSecret: true,
    maxLength: 128,
  }),
  keychain: text({
    description: "An entry in the keychain of the operating system: service toolcrib, account NAME.",
    pattern: secretName,
    isNameOfSecret: true,
    maxLength: 128,
  }),
} as const;

const refHints = {
  environment: "did you mean env?",
  value: "the configuration never contains a secret: use store, env or file",
  name: "for a name in the secret store, write secret_key_ref: NAME",
} as const;

/** Reports a reference with no place, or with several. */
function inspectPlaces(value: object, node: DocumentNode, place: Place): void {
  const given = node.kind === "map" ? node.entries.filter(({ key }) => key !== "per").length : 0;
  const known = Object.keys(value).filter((key) => key !== "per").length;
  if (given === 1 || known === 1) return;
  if (given > 0 && known === 0) return;
  reportAt(node, place, {
    code: "CONFIG_INVALID_VALUE",
    message: `${quote(place.path)} must have exactly one of ${listOf(refFields)}, but has ${given === 0 ? "none" : String(given)}`,
  });
}

const refShape = record({
  name: "SecretRef",
  description: "Location of the secret: exactly one of env, file, store, keychain.",
  fields: placeFields,
  hints: {
    ...refHints,
    per: "only headers of tool servers and credentials of toolspecs can be per: identity",
  },
  inspect: inspectPlaces,
});

const identityRefShape = record({
  name: "IdentitySecretRef",
  description: "Location of the secret: exactly one of env, file, store, keychain.",
  fields: {
    ...placeFields,
    per: choice({
      description:
        "identity: each client has a secret of its own in the store (toolcrib secret set NAME --identity CLIENT). Only with store.",
      values: ["identity"],
      aliases: { client: "identity", user: "identity" },
    }),
  },
  hints: refHints,
  inspect(value, node, place) {
    inspectPlaces(value, node, place);
    if (value.per === undefined) return;
    const report = (message: string, hint: string) =>
      reportAt(node, place, { code: "CONFIG_INVALID_VALUE", message, hint });
    if (value.store === undefined) {
      report("per: identity needs a secret of the store", "write { store: NAME, per: identity }");
    } else if (value.store.length > identitySecretMaxLength) {
      report(
        `The name of a secret per identity has at most ${identitySecretMaxLength} characters`,
        "shorten it",
      );
    }
  },
});

/** Longest name of a secret per identity: the names of those of the clients are longer. */
const identitySecretMaxLength = 90;
const refFields = ["env", "file", "store", "keychain"] as const;

const nameShape = text({
  description:
    "A name. Toolcrib reads the variable TOOLCRIB_SECRET_<NAME> (upper case, _ for - and .), or else the secret store (toolcrib secret set NAME), or else the file secrets/<NAME> in its home folder.",
  pattern: secretName,
  isNameOfSecret: true,
  maxLength: 128,
});

/** Returns the shape of `secret_key_ref`: a name, or a map with exactly one location. */
function createSecretKeyRef(isPerIdentity: boolean): Shape<SecretRef> {
  const mapShape = isPerIdentity ? identityRefShape : refShape;
  const definition = isPerIdentity ? "IdentitySecretRef" : "SecretRef";
  return {
    check(node, place) {
      if (node.kind === "scalar") {
        if (typeof node.value === "string" && looksLikeCredential(node.value)) {
          return reportInline(node, place, "secret_key_ref contains a possible secret", refHint);
        }
        const name = nameShape.check(node, place);
        return name === undefined ? undefined : { kind: "named", name };
      }
      const ref: ValueOf<typeof identityRefShape> | undefined = mapShape.check(node, place);
      if (ref?.env !== undefined) return { kind: "env", name: ref.env };
      if (ref?.file !== undefined) return { kind: "file", path: ref.file };
      if (ref?.store !== undefined)
        return { kind: "store", name: ref.store, ...(ref.per === undefined ? {} : { per: ref.per }) };
      return ref?.keychain === undefined ? undefined : { kind: "keychain", name: ref.keychain };
    },
    toJsonSchema: (definitions) => {
      const schema = mapShape.toJsonSchema(definitions);
      const full = definitions?.get(definition);
      const maxProperties = isPerIdentity ? 2 : 1;
      if (full !== undefined) definitions?.set(definition, { ...full, minProperties: 1, maxProperties });
      return {
        description: "Location of the secret.",
        oneOf: [nameShape.toJsonSchema(definitions), schema],
      };
    },
  };
}

/** `secret_key_ref` of a secret that is the same for all clients. */
export const secretKeyRef: Shape<SecretRef> = createSecretKeyRef(false);
/** `secret_key_ref` of a secret that may be one per identity. */
export const identitySecretKeyRef: Shape<SecretRef> = createSecretKeyRef(true);
const refHint = "write the name of the secret: secret_key_ref: NAME, or secret_key_ref: { env: NAME }";

/** `{ secret_key_ref: … }` as the value of a header or variable. */
export const secretText = createSecretText("SecretText", secretKeyRef);
const identitySecretText = createSecretText("IdentitySecretText", identitySecretKeyRef);

function createSecretText(name: string, ref: Shape<SecretRef>) {
  return record({
    name,
    description: "A secret that Toolcrib reads when it starts the server.",
    fields: {
      secret_key_ref: { required: ref },
      prefix: text({
        description: 'Text before the secret, such as "Bearer ".',
        maxLength: 64,
        examples: ["Bearer "],
        inspect(value, node, place) {
          if (!looksLikeCredential(value)) return;
          reportInline(node, place, "the prefix contains a possible secret", refHint);
        },
      }),
    },
    hints: {
      env: "write secret_key_ref: { env: NAME }",
      file: "write secret_key_ref: { file: PATH }",
      value: "write a literal without a map, and a secret with secret_key_ref",
      secret_ref: "did you mean secret_key_ref?",
      valueFrom: "write secret_key_ref: NAME",
      secretKeyRef: "did you mean secret_key_ref?",
    },
  });
}

/** Returns the shape of a value of a header (`role` "header") or environment variable. @param isPerIdentity whether a secret may be one per identity */
export function textShape(role: "header" | "variable", isPerIdentity = false): Shape<ConfigText> {
  const noun = role === "header" ? "header" : "environment variable";
  const isNamed = role === "header" ? isCredentialHeader : isCredentialVariable;
  const literal = text({
    description: `The value of the ${noun}; never a credential.`,
    minLength: 0,
    maxLength: 8192,
    inspect(value, node, place) {
      if (value === "") return;
      inspectVariables(value, node, place);
      if (looksLikeCredential(value)) {
        const what = `${noun} ${quote(place.key)} contains a possible secret`;
        reportInline(node, place, what, inlineHint(role, place.key, value));
      } else if (role === "header" && !/^[\t\x20-\x7e]*$/.test(value)) {
        invalid(node, place, `${quote(place.path)} contains characters that are not allowed in a header`);
      }
    },
  });
  const forms = either(
    (node) => node.kind !== "map",
    literal,
    isPerIdentity ? identitySecretText : secretText,
    `The value of the ${noun}: a literal, or a reference to a secret.`,
  );
  return {
    check(node, place) {
      // Before any other check, and for numbers too: no message may quote this value.
      const isLiteral = node.kind === "scalar" && isNamed(place.key);
      if (isLiteral && secretVerdict(role, place.key, node.text) === "certain") {
        const what = `${noun} ${quote(place.key)} contains a literal`;
        return reportInline(node, place, what, inlineHint(role, place.key, node.text));
      }
      const value = forms.check(node, place);
      if (value === undefined) return undefined;
      if (typeof value === "string") {
        // What is one for certain is an error already. A guess warns, and is removed from no result.
        if (secretVerdict(role, place.key, value) === "likely") {
          const what = `${noun} ${quote(place.key)}`;
          warnOfInline(node, place, what, inlineHint(role, place.key, value));
        }
        return { kind: "literal", text: value, isSecret: false, span: node.span };
      }
      return { kind: "secret", ref: value.secret_key_ref, prefix: value.prefix ?? "", span: node.span };
    },
    toJsonSchema: forms.toJsonSchema,
  };
}

/** Warns of a literal that may be a secret; the value is used, and shown in no message. @param what has it, for messages */
export function warnOfInline(node: DocumentNode, place: Place, what: string, hint: string): void {
  reportAt(node, place, {
    severity: "warning",
    code: "CONFIG_INLINE_SECRET",
    message: `inline secret: ${what} contains what looks like a secret`,
    hint,
  });
}

/** Returns the hint that rewrites a literal credential as a reference. */
export function inlineHint(role: "header" | "variable", name: string, value: string): string {
  const prefix = role === "header" ? /^(?:Bearer|Basic|Token|ApiKey)\s+(?=\S)/i.exec(value)?.[0] : undefined;
  const variable =
    /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]{0,200})?\}/.exec(value)?.[1] ?? toVariableName(name);
  const ref = `secret_key_ref: { env: ${variable} }`;
  const map = prefix === undefined ? `{ ${ref} }` : `{ prefix: "${prefix}", ${ref} }`;
  return `write ${name}: ${map} and set that variable, or secret_key_ref: NAME for a secret in the store of Toolcrib`;
}

/** Returns the name of an environment variable for `name`. */
export function toVariableName(name: string): string {
  const upper = name.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  if (!/[A-Z0-9]/.test(upper)) return "NAME";
  return /^[0-9]/.test(upper) ? `_${upper}` : upper;
}

/** Warns that `${NAME}` in `value` is not replaced. */
export const inspectVariables: Inspect<string> = (value, node, place) => {
  const variable = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)[^}]{0,200}\}/.exec(value)?.[1];
  if (variable === undefined) return;
  const isText = place.path.includes(".env.") || place.path.includes(".headers.");
  reportAt(node, place, {
    severity: "warning",
    code: "CONFIG_VARIABLE_NOT_AVAILABLE",
    message: `Variables are not replaced here: ${quote(`\${${variable}}`)} is literal text`,
    hint: isText ? `write ${place.key}: { secret_key_ref: { env: ${variable} } }` : "write the value",
  });
};

/** Reports an inline secret. */
export function reportInline(node: DocumentNode, place: Place, what: string, hint: string): undefined {
  reportAt(node, place, {
    code: "CONFIG_INLINE_SECRET",
    message: `inline secret not allowed: ${what}`,
    hint,
  });
  return undefined;
}
