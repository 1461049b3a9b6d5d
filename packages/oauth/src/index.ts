// For the gateway and the command line.
export { AccessTokens } from "./access-tokens.ts";
export { ClientTokens, type TokenIssuer } from "./client-tokens.ts";
export { type ExaminedServer, examineServer } from "./examine-server.ts";
export { type LoginPrompt, login, logout, readLoginState } from "./login.ts";
export type { OAuthDeps, OAuthServer } from "./oauth-server.ts";
export { ServerLogins } from "./server-logins.ts";
