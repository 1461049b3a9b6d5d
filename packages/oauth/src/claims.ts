/** The identity that the claims of a valid token give: issuer and subject, and what the configuration takes from other claims. */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Identity, Role } from "@toolcrib/tool";

/** The claims that count (`serve.auth.jwt[].claims`). */
export interface ClaimRules {
  /** The claim with the name for people. @default "sub" */
  readonly name: string | undefined;
  /** Roles by the values of one claim. Only they give roles. */
  readonly roles:
    | { readonly claim: string; readonly values: { readonly [value: string]: string } }
    | undefined;
  /** Labels in policies, by the claim that has the value. */
  readonly labels: { readonly [label: string]: string };
}

const gatewayRoles: readonly string[] = ["viewer", "operator", "admin"] satisfies readonly Role[];
/** Longest subject, name and value of a label, in characters. */
const textMaxLength = 256;
/** Values of one claim that are compared. */
const maxValues = 1000;

/** Returns the identity; undefined where the subject is no usable text. */
export function identityFrom(issuer: string, claims: JsonObject, rules: ClaimRules): Identity | undefined {
  const subject = claims["sub"];
  if (typeof subject !== "string" || subject === "" || subject.length > textMaxLength) return undefined;
  const named = rules.name === undefined ? undefined : claimAt(claims, rules.name);
  const roles = rolesOf(claims, rules);
  const labels: { [label: string]: string } = {};
  for (const [label, claim] of Object.entries(rules.labels)) {
    const value = claimAt(claims, claim);
    if (["string", "number", "boolean"].includes(typeof value))
      labels[label] = String(value).slice(0, textMaxLength);
  }
  return {
    issuer,
    subject,
    name: plain(typeof named === "string" && named !== "" ? named : subject),
    roles: roles.filter((role): role is Role => gatewayRoles.includes(role)),
    attributes: { roles: roles.filter((role) => !gatewayRoles.includes(role)), labels },
  };
}

function rolesOf(claims: JsonObject, { roles }: ClaimRules): readonly string[] {
  if (roles === undefined) return [];
  const value = claimAt(claims, roles.claim);
  const given =
    typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value.slice(0, maxValues) : [];
  const found = given.map((one) =>
    typeof one === "string" && Object.hasOwn(roles.values, one) ? roles.values[one] : undefined,
  );
  return [...new Set(found.filter((role) => role !== undefined))];
}

/** Returns a claim by its name, or by a path with dots (`realm_access.roles`) where no claim has that name. */
function claimAt(claims: JsonObject, path: string): JsonValue | undefined {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: JsonValue | undefined = claims;
  for (const part of path.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function plain(text: string): string {
  return (
    text
      .replace(/[\p{C}\s]+/gu, " ")
      .trim()
      .slice(0, textMaxLength) || "unnamed"
  );
}
