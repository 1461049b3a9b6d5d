export {
  type ClientProgram,
  filesOf,
  type UserPlaces,
} from "./client-program.ts";
export { clientPrograms } from "./client-programs.ts";
export { ClientsError } from "./clients-error.ts";
export { hasServer, serverIn, withoutServer, withServer } from "./edit-file.ts";
export type { ImportOAuth } from "./entry-transport.ts";
export { type ClientServer, readClientServers } from "./import-servers.ts";
export { type ImportSource, projectSources, sourceOfFile, userSources } from "./import-sources.ts";
export type { ImportPart, ImportText } from "./import-text.ts";
