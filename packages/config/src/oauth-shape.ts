/** The shape of `transport.auth`: OAuth as a client of a tool server. */

import {
  choice,
  integer,
  list,
  type Place,
  record,
  type Shape,
  text,
  type ValueOf,
} from "@toolcrib/document";
import type { ConfigText } from "./config-types.ts";
import { lintServerUrl } from "./server-url.ts";
import { inspectVariables, reportInline, textShape } from "./text-shape.ts";

/** Scopes as OAuth spells them (RFC 6749, section 3.3). */
export const scopeText = text({
  description: "A scope.",
  maxLength: 256,
  pattern: {
    source: "[\\x21\\x23-\\x5b\\x5d-\\x7e]+",
    meaning: "one scope, without spaces and quotation marks",
  },
});

/** Returns the shape of a URL of an authorization server: https, or http to this machine. */
export const serverUrlText = (description: string, examples: readonly string[]) =>
  text({
    description,
    maxLength: 2048,
    examples: [...examples],
    inspect(value, node, place) {
      inspectVariables(value, node, place);
      const problem = lintServerUrl(value, false, place.path);
      if (problem === undefined) return;
      // These URLs have no allow_http.
      const hint = problem.code === "CONFIG_URL_INSECURE" ? "write https" : problem.hint;
      place.reporter.report({ ...problem, hint, path: place.path, span: node.span });
    },
  });

/** A reference to a secret; never a literal. */
export function secretOnly(description: string): Shape<ConfigText> {
  const shape = textShape("variable");
  return {
    check(node, place) {
      if (node.kind === "scalar") {
        const hint = `write ${place.key}: { secret_key_ref: NAME }`;
        return reportInline(node, place, `${place.key} contains a literal`, hint);
      }
      return shape.check(node, place);
    },
    toJsonSchema: (definitions) => ({ ...shape.toJsonSchema(definitions), description }),
  };
}

export const oauthShape = record({
  name: "OAuth",
  description:
    "OAuth: the server gets an access token with each request. Log in with toolcrib login ID, unless grant is client_credentials.",
  fields: {
    type: {
      required: choice({
        description: "The kind of authentication.",
        values: ["oauth"],
        aliases: { oauth2: "oauth", "oauth2.1": "oauth" },
      }),
    },
    grant: choice({
      description:
        "authorization_code: a person logs in. client_credentials: the gateway has access of its own, with client_id and client_secret or private_key.",
      values: ["authorization_code", "client_credentials"],
      default: "authorization_code",
    }),
    per: choice({
      description:
        "gateway: all clients use one login. identity: each client uses a login of its own (toolcrib login ID --client NAME), and the server's tools are listed with that of the gateway.",
      values: ["gateway", "identity"],
      aliases: { client: "identity", user: "identity" },
      default: "gateway",
    }),
    scopes: list(scopeText, {
      description: "Scopes to ask for. Default: those that the server names.",
      maxItems: 100,
    }),
    issuer: serverUrlText(
      "The authorization server; it may have an address that is not public. Default: the one that the server names.",
      ["https://login.example.com"],
    ),
    client_id: text({
      description:
        "The client, if it was registered before. Default: Toolcrib registers itself at each login.",
      maxLength: 2048,
      inspect: inspectVariables,
    }),
    client_secret: secretOnly("The secret of client_id, with secret_key_ref."),
    private_key: secretOnly(
      "The private key (PEM, PKCS #8) with which client_id authenticates (private_key_jwt), with secret_key_ref.",
    ),
    client_metadata_url: text({
      description:
        "HTTPS URL of a client id metadata document, used where the authorization server supports it and there is no client_id.",
      maxLength: 2048,
      pattern: { source: "https://[^/?#\\s]+/[^?#\\s]+", meaning: "an https URL with a path" },
    }),
    redirect_port: integer({
      description: "Port of 127.0.0.1 that the login returns to. Default: a free one.",
      minimum: 1024,
      maximum: 65_535,
    }),
  },
  hints: {
    scope: "did you mean scopes?",
    clientId: "did you mean client_id?",
    clientSecret: "did you mean client_secret?",
    token: "write headers: { Authorization: { secret_key_ref: NAME } } for a fixed token",
    authorization_server: "did you mean issuer?",
    grant_type: "did you mean grant?",
  },
  inspect(value, node, place) {
    const report = (message: string, hint: string) =>
      place.reporter.report({
        code: "CONFIG_INVALID_VALUE",
        message,
        hint,
        path: place.path,
        span: node.span,
      });
    const { client_id: id, client_secret: secret, private_key: key, grant, per } = value;
    if (secret !== undefined && key !== undefined) {
      report("auth has both client_secret and private_key", "remove one of them");
    }
    if ((secret ?? key) !== undefined && id === undefined && value.client_metadata_url === undefined) {
      report("auth has a secret, but no client_id", "add client_id");
    }
    if (grant !== "client_credentials") return;
    if ((secret ?? key) === undefined) {
      report(
        "client_credentials needs client_secret or private_key",
        "add client_id, and one of them with secret_key_ref",
      );
    }
    if (per === "identity") {
      report("client_credentials gives access to the gateway, not to single clients", "remove per: identity");
    }
  },
});

/** The result of `oauthShape`. */
export type OAuthDocument = ValueOf<typeof oauthShape>;

/** Reports an Authorization header beside `auth`. */
export function inspectOAuthHeaders(
  auth: OAuthDocument | undefined,
  headers: { readonly [name: string]: unknown } | undefined,
  node: Parameters<Shape<unknown>["check"]>[0],
  place: Place,
): void {
  if (auth === undefined || headers === undefined) return;
  if (!Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return;
  place.reporter.report({
    code: "CONFIG_HEADER_NOT_ALLOWED",
    message: "transport has both auth and a header Authorization",
    hint: "remove the header: auth sends it",
    path: place.path,
    span: node.span,
  });
}
