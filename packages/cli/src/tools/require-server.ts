/** Checks the id of a server that the user names. */

import { didYouMean } from "@toolcrib/diagnostics";
import { CliError } from "../cli-error.ts";

/**
 * @param what the kinds of sources that the ids are of. @default tool server
 * @throws {CliError} `CLI_SERVER_NOT_FOUND` if `server` is not one of `ids`.
 */
export function requireServer(server: string, ids: readonly string[], what = "tool server"): void {
  if (ids.includes(server)) return;
  const known = ids.length === 0 ? "there are none" : `the ids are ${ids.join(", ")}`;
  throw new CliError("CLI_SERVER_NOT_FOUND", `No ${what} has the id "${server}"`, {
    hint: didYouMean(server, ids) ?? known,
  });
}
