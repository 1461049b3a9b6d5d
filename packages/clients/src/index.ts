export {
  type ClientProgram,
  fileOf,
  type UserPlaces,
} from "./client-program.ts";
export { clientPrograms } from "./client-programs.ts";
export { ClientsError } from "./clients-error.ts";
export { serverIn, withoutServer, withServer } from "./edit-file.ts";
