/** Codes of this package's errors, each with its meaning. */
export const oauthCodes = {
  OAUTH_ADDRESS_REFUSED:
    "Metadata of a server names an address that is not public, not https, or that the connection must not use.",
  OAUTH_CLIENT_REQUIRED:
    "The authorization server registers no clients by itself, and the configuration names no client.",
  OAUTH_DISCOVERY_FAILED:
    "The authorization server of a server cannot be found, or its metadata is not usable.",
  OAUTH_LOGIN_FAILED: "The authorization server did not give access, or its answer to a login is not valid.",
  OAUTH_LOGIN_REQUIRED: "A server needs a login that does not exist, has ended, or has too few scopes.",
  OAUTH_SETTING_INVALID: "A key or another setting of a client cannot be used.",
  OAUTH_TOKEN_FAILED: "The authorization server gave no access token.",
  OAUTH_UNREACHABLE: "A request of OAuth failed, took too long, or its response is too large.",
} as const;

/** A key of `oauthCodes`. */
export type OAuthCode = keyof typeof oauthCodes;
