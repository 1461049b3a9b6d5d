// For the gateway and the command line.
export { listenOnControlSocket } from "./control-socket.ts";
export { isTokenName, makeToken, readToken, tokenDirectory } from "./token-file.ts";
export { defaultTokenName, openTokenStore } from "./token-store.ts";
