// For the gateway and the command line.
export { type ControlSocketDeps, listenOnControlSocket } from "./control-socket.ts";
export { isTokenName, makeToken, readToken, tokenDirectory } from "./token-file.ts";
export { openTokenStore } from "./token-store.ts";
