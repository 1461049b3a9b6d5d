/** Finds out whether a gateway accepts the token with which a client was connected. Reads the files of the home and of the client. */

import { type ClientProgram, clientPrograms, serverIn } from "@toolcrib/clients";
import type { CliContext } from "../cli-context.ts";
import { readClientFile } from "./client-file.ts";
import { readConnection } from "./connection-store.ts";
import { hasToken, tokenOf } from "./gateway-entry.ts";

/**
 * The token of a connected client. `revoked`: it was created for the client, and is gone. `replaced`: the file of the
 * client has another token than the home has under the name of the client, such as one that was revoked and created
 * again. `current` where neither is known.
 */
export type TokenState = "current" | "revoked" | "replaced";

/** Returns the state of the token of a client. A file that cannot be read says nothing about it. */
export async function tokenState(context: CliContext, program: ClientProgram): Promise<TokenState> {
  const { id } = program;
  const connection = await readConnection(context.options.home, id);
  if (connection === undefined) return "current";
  if (!hasToken(context, id)) return connection.createdToken === undefined ? "current" : "revoked";
  try {
    const text = await readClientFile(connection.file);
    const entry = text === undefined ? undefined : serverIn(text, program, connection.server);
    const [written] = /\btcb_[A-Za-z0-9_-]{16,}/.exec(JSON.stringify(entry ?? null)) ?? [];
    return written === undefined || written === tokenOf(context, id) ? "current" : "replaced";
  } catch {
    // The list is of clients; `toolcrib doctor` says what is wrong with a file.
    return "current";
  }
}

/** Returns the connected clients as one line shows them: with what is wrong with their tokens. */
export async function connectedNames(
  context: CliContext,
  ids: readonly string[],
): Promise<readonly string[]> {
  return await Promise.all(
    ids.map(async (id) => {
      const program = clientPrograms.find((one) => one.id === id);
      const state = program === undefined ? "current" : await tokenState(context, program);
      return state === "current" ? id : `${id} (token ${state}: connect it again)`;
    }),
  );
}
