/**
 * The authentication of a package by its manifest (MCPKG document, section 4.2), and
 * which secrets it gets. Pure; reads no secret.
 *
 * The manifest of an unverified package does not choose a secret: its publisher would choose
 * one of another service and the host that it is sent to. The operator names it, or
 * states that the package is verified; then the names of the manifest count.
 */

import type { EgressCredential } from "@toolcrib/egress";
import type { JsonValue } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import type { SecretRef } from "@toolcrib/secrets";
import type { PackageConfig } from "../installed/package-config.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";

/** The settings of OAuth 2. */
export interface OAuthSettings {
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
}

/** A secret of a package. */
export interface NamedSecret {
  readonly ref: SecretRef;
  /** Where it is read from when `ref` names nothing. @default nowhere */
  readonly otherwise?: SecretRef;
}

/** The credential that a package needs. */
export interface NeededCredential {
  readonly place: EgressCredential["place"];
  /** References to its secrets: `token`, or those of OAuth 2. */
  readonly secrets: { readonly [id: string]: NamedSecret };
  readonly oauth: OAuthSettings | undefined;
}

const bearer = { kind: "header", name: "Authorization", format: "Bearer {token}" } as const;

/** Headers that belong to the connection or to another credential. */
const refusedHeaders =
  /^(?:host|content-length|content-type|connection|transfer-encoding|te|trailer|upgrade|keep-alive|cookie|accept|user-agent|expect|proxy-.*)$/i;

/**
 * Returns the credential that a package needs; undefined for none.
 *
 * @throws {McpkgRuntimeError} `PACKAGE_UNUSABLE` where the operator has to name a secret, or the manifest is wrong
 */
export function neededCredential(manifest: Manifest, config: PackageConfig): NeededCredential | undefined {
  const { auth } = manifest;
  switch (auth?.type) {
    case undefined:
    case "none":
      return undefined;
    case "bearer":
      return { place: bearer, secrets: secretsOf(manifest, config, ["token"]), oauth: undefined };
    case "api_key":
      return {
        place: keyPlaceOf(manifest),
        secrets: secretsOf(manifest, config, ["token"]),
        oauth: undefined,
      };
    case "oauth2":
      return {
        place: bearer,
        secrets: secretsOf(manifest, config, oauthIdsOf(manifest, config)),
        oauth: { tokenUrl: tokenUrlOf(manifest), scopes: auth.scopes ?? [] },
      };
  }
}

/** The secrets of OAuth 2: those that the operator named, or else those of client credentials. */
function oauthIdsOf({ auth }: Manifest, { credentials }: PackageConfig): readonly string[] {
  const named = ["client_id", "client_secret", "refresh_token"].filter((id) =>
    Object.hasOwn(credentials, id),
  );
  if (named.length > 0) return named;
  return namesOf(auth?.configHints?.["env"]).length === 1
    ? ["refresh_token"]
    : ["client_id", "client_secret"];
}

function secretsOf(
  manifest: Manifest,
  { credentials, trustState }: PackageConfig,
  ids: readonly string[],
): NeededCredential["secrets"] {
  const names = namesOf(manifest.auth?.configHints?.["env"]);
  const found: { [id: string]: NamedSecret } = {};
  for (const [at, id] of ids.entries()) {
    const ref = Object.hasOwn(credentials, id) ? credentials[id] : undefined;
    const name = names[at];
    if (ref !== undefined) found[id] = { ref };
    else if (trustState !== "unverified" && name !== undefined) {
      // A manifest names variables of the environment; the store comes first.
      found[id] = { ref: { kind: "named", name }, otherwise: { kind: "env", name } };
    } else throw missing(manifest.toolId, ids, names);
  }
  return found;
}

function missing(toolId: string, ids: readonly string[], names: readonly string[]): McpkgRuntimeError {
  const refs = ids.map((id, at) => `${id}: { secret_key_ref: ${names[at] ?? "NAME"} }`).join(", ");
  const proposed = names[0] === undefined ? "" : `; its manifest proposes ${names.join(", ")}`;
  return new McpkgRuntimeError(
    "PACKAGE_UNUSABLE",
    `"${toolId}" needs ${ids.length === 1 ? "a secret" : "secrets"}${proposed}`,
    {
      hint: `write packages: { ${toolId}: { credentials: { ${refs} } } }, and store ${ids.length === 1 ? "it" : "them"} with toolcrib secret set ${names[0] ?? "NAME"}`,
    },
  );
}

function namesOf(hint: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(hint) ? hint : [hint];
  return list.flatMap((one) => (typeof one === "string" && /^[A-Za-z0-9_.-]{1,128}$/.test(one) ? [one] : []));
}

/** Where an API key goes: a header or a query parameter that the manifest names. */
function keyPlaceOf({ toolId, auth }: Manifest): EgressCredential["place"] {
  const { header, query } = auth?.configHints ?? {};
  if (query !== undefined) {
    if (typeof query === "string" && /^[A-Za-z0-9_.~-]{1,128}$/.test(query)) {
      return { kind: "query", name: query, format: "{token}" };
    }
    throw invalidHint(toolId, "query", "a name of letters, digits and _ . ~ -");
  }
  const name = header ?? "X-API-Key";
  if (typeof name === "string" && /^[A-Za-z0-9_-]{1,128}$/.test(name) && !refusedHeaders.test(name)) {
    return { kind: "header", name, format: "{token}" };
  }
  throw invalidHint(toolId, "header", "the name of a header for a credential, such as X-API-Key");
}

function tokenUrlOf({ toolId, auth }: Manifest): string {
  const hints = auth?.configHints ?? {};
  const url = hints["tokenUrl"] ?? hints["token_url"];
  if (typeof url === "string" && /^https:\/\/[^{}#@]+$/.test(url) && URL.canParse(url)) return url;
  throw invalidHint(toolId, "tokenUrl", "the https URL of the token endpoint");
}

function invalidHint(toolId: string, name: string, meaning: string): McpkgRuntimeError {
  return new McpkgRuntimeError(
    "PACKAGE_UNUSABLE",
    `"${toolId}" cannot authenticate: auth.configHints.${name} of its manifest must be ${meaning}`,
    { hint: "report it to the publisher of the package" },
  );
}
