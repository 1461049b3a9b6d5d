/** The shape of `serve.auth`: a word, or OAuth with the issuers whose tokens clients use. */

import {
  choice,
  dictionary,
  flag,
  integer,
  list,
  record,
  reportAt,
  text,
  type ValueOf,
} from "@toolcrib/document";
import type { ServeOAuthConfig } from "./config-types.ts";
import { scopeText, secretOnly, serverUrlText } from "./oauth-shape.ts";

/** Algorithms with a public key. Those with a shared secret (HS…) and none are never accepted. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

const claimName = text({
  description: "The name of a claim, or a path with dots: realm_access.roles.",
  maxLength: 256,
});
const roleName = { source: "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", meaning: "letters, digits and _ . -" };

const claimsShape = record({
  name: "TokenClaims",
  description: "Which claims count besides iss and sub, which identify the client.",
  fields: {
    name: text({
      description: "The claim with the name that people and the audit see. Default: sub.",
      maxLength: 256,
    }),
    roles: record({
      description: "Roles by the values of a claim. Nothing else in a token gives a role.",
      fields: {
        claim: { required: claimName },
        values: {
          required: dictionary(
            text({
              description: "The role: viewer, operator or admin of the gateway, or a role of policies.",
              pattern: roleName,
              maxLength: 64,
            }),
            {
              description: "Roles by the values of the claim: { platform-team: operator, dev: developer }.",
              maxEntries: 200,
              key: { source: "[\\x21-\\x7e]{1,256}", meaning: "a value of the claim without spaces" },
            },
          ),
        },
      },
    }),
    labels: dictionary(claimName, {
      description: "Labels in policies, each with the claim that has its value: { team: department }.",
      maxEntries: 50,
      key: { source: "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", meaning: "letters, digits and _ . -" },
    }),
  },
});

const issuerShape = record({
  name: "TokenIssuer",
  description: "An issuer whose access tokens are accepted.",
  fields: {
    issuer: {
      required: serverUrlText("The issuer, exactly as in the claim iss.", ["https://login.example.com"]),
    },
    audience: list(text({ description: "An audience.", maxLength: 2048 }), {
      description: "A token needs one of these in its claim aud. Default: resource.",
      maxItems: 20,
    }),
    jwks_uri: serverUrlText("The keys of the issuer. Default: that of its metadata.", [
      "https://login.example.com/jwks",
    ]),
    algorithms: list(choice({ description: "An algorithm.", values: algorithms }), {
      description: "Accepted algorithms. Default: RS256, PS256, ES256, EdDSA.",
      maxItems: 11,
    }),
    clock_skew_seconds: integer({
      description: "Tolerated difference of the clocks, in seconds.",
      minimum: 0,
      maximum: 300,
      default: 60,
    }),
    scopes: list(scopeText, { description: "Scopes that every request needs.", maxItems: 50 }),
    claims: claimsShape,
    introspection: record({
      description: "Opaque tokens are checked by introspection (RFC 7662). For one issuer only.",
      fields: {
        url: serverUrlText("The introspection endpoint. Default: that of the metadata of the issuer.", [
          "https://login.example.com/introspect",
        ]),
        client_id: { required: text({ description: "The client that asks.", maxLength: 2048 }) },
        client_secret: { required: secretOnly("Its secret, with secret_key_ref.") },
      },
    }),
  },
});

export const serveOAuthShape = record({
  name: "ServeAuth",
  description: "Clients authenticate with access tokens of the issuers of jwt.",
  fields: {
    resource: {
      required: serverUrlText(
        "The URL of the endpoint as clients know it: the audience of tokens, and the resource of the metadata.",
        ["https://tools.example.com/mcp"],
      ),
    },
    jwt: {
      required: list(issuerShape, { description: "The issuers, one at least.", maxItems: 20 }),
    },
    tokens: flag("Whether the tokens of the home are accepted, too.", { default: true }),
  },
  hints: {
    audience: "write it in an entry of jwt",
    issuer: "write jwt: [{ issuer: URL }]",
    oauth: "did you mean jwt?",
  },
  inspect(value, node, place) {
    const issuers = (value.jwt ?? []).map(({ issuer }) => issuer);
    const report = (message: string, hint: string) =>
      reportAt(node, place, { code: "CONFIG_INVALID_VALUE", message, hint });
    if (value.jwt !== undefined && issuers.length === 0)
      report("serve.auth.jwt is empty", "name an issuer: jwt: [{ issuer: URL }]");
    if (new Set(issuers).size < issuers.length)
      report("serve.auth.jwt has an issuer twice", "remove one of them");
    if ((value.jwt ?? []).filter(({ introspection }) => introspection !== undefined).length > 1) {
      report(
        "serve.auth.jwt has introspection for several issuers",
        "keep one: a token must not be sent to another issuer",
      );
    }
  },
});

/** Translates `serve.auth` as a map. */
export function toServeOAuth(document: ValueOf<typeof serveOAuthShape>): ServeOAuthConfig {
  const { resource, jwt, tokens = true } = document;
  return {
    resource,
    acceptsTokens: tokens,
    issuers: jwt.map((issuer) => ({
      issuer: issuer.issuer,
      audiences: issuer.audience ?? [resource],
      jwksUri: issuer.jwks_uri,
      algorithms: issuer.algorithms ?? ["RS256", "PS256", "ES256", "EdDSA"],
      clockSkewSeconds: issuer.clock_skew_seconds ?? 60,
      scopes: issuer.scopes ?? [],
      claims: {
        name: issuer.claims?.name,
        roles: issuer.claims?.roles,
        labels: issuer.claims?.labels ?? {},
      },
      introspection: issuer.introspection && {
        url: issuer.introspection.url,
        clientId: issuer.introspection.client_id,
        clientSecret: issuer.introspection.client_secret,
      },
    })),
  };
}
