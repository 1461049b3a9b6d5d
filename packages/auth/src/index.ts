// For the gateway and the command line.
export { authCodes } from "./codes.ts";
export { type ControlSocketDeps, listenOnControlSocket } from "./control-socket.ts";
export { isTokenName, makeToken, readToken, tokenDirectory } from "./token-file.ts";
export { openTokenStore, type TokenStore } from "./token-store.ts";
