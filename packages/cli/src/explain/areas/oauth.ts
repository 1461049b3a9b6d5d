/** Explanations of the codes of the package oauth. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { loginFile } from "../samples.ts";

export const explanations: Explanations = {
  OAUTH_ADDRESS_REFUSED: {
    cause:
      "The metadata of a server names an address that is not https, not public, or redirects elsewhere. A server must not be able to send logins and tokens to any place it likes.",
    files: loginFile("foreign"),
    run: "toolcrib login notes",
    fix: "Correct the metadata at the server, or name the right authorization server with transport.auth.issuer.",
  },
  OAUTH_CLIENT_REQUIRED: {
    cause:
      "The authorization server does not register clients by itself, and the configuration names no client.",
    files: loginFile("closed"),
    run: "toolcrib login notes",
    fix: "Register an application at the service, with the redirect address that toolcrib login prints, and write its client_id (and client_secret with secret_key_ref) in transport.auth.",
  },
  OAUTH_DISCOVERY_FAILED: {
    cause:
      "The server does not say which authorization server it trusts, or the metadata of that server cannot be used.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: crm\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/status-404", auth: { type: oauth } }\n',
    },
    run: "toolcrib login crm --no-browser",
    fix: "Correct transport.url. If the server publishes no metadata, write transport.auth.issuer.",
  },
  OAUTH_LOGIN_FAILED: {
    cause:
      "The login did not end with access: the person declined or did not finish it in time, or the authorization server refused.",
    files: loginFile("refused"),
    run: "toolcrib login notes",
    fix: "Run toolcrib login SERVER again and finish it in the browser. If the server refuses, its reason is in the message: often scopes or the redirect address of the client.",
  },
  OAUTH_LOGIN_REQUIRED: {
    cause:
      "The server needs a login, and there is none, it has ended (the refresh token expired or was revoked), or it has too few scopes.",
    did: "A login was revoked at the service.",
    prints: '"crm" needs more than this login has, which were asked for and are not enough',
    unrun: "setup",
    tested: "packages/oauth/test/login.security.test.ts",
    fix: "Log in again: toolcrib login SERVER. For scopes that are missing, ask the administrator of the authorization server.",
  },
  OAUTH_SETTING_INVALID: {
    cause:
      "A setting of transport.auth cannot be used: a private key of an unknown kind, or a client secret that would be sent to an issuer that the configuration does not name.",
    files: loginFile("open", ", client_id: example, private_key: { secret_key_ref: { env: S } }"),
    run: "S=abcdefghijklmnop toolcrib login notes",
    fix: "Correct transport.auth as the message says; keys are PEM of RSA, P-256, P-384 or Ed25519.",
  },
  OAUTH_TOKEN_FAILED: {
    cause: "The authorization server gave no access token, or the server refuses the one that it gave.",
    did: "The client secret of a grant client_credentials was replaced at the service.",
    prints:
      '"crm" refuses the access token of the gateway\ncheck transport.auth: client_id and scopes, and what the authorization server grants this client',
    unrun: "setup",
    tested: "packages/oauth/test/login.security.test.ts",
    fix: "Check client_id, secret and scopes in transport.auth, and what the service grants this client; then toolcrib doctor.",
  },
  OAUTH_UNREACHABLE: {
    cause: "A request to the authorization server failed, took too long, or its response is too large.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - id: crm\n    transport: { kind: streamable_http, url: "http://127.0.0.1:9000/notes", auth: { type: oauth, issuer: "http://127.0.0.1:9" } }\n',
    },
    run: "toolcrib login crm --no-browser",
    fix: "Check network and proxy (transport.proxy), and the URL of the authorization server. Another process that refreshes the same login for long: look for a toolcrib process that hangs.",
  },
};
