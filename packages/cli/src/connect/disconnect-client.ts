/**
 * `toolcrib disconnect`: takes this gateway out of the files of clients. A file that nobody changed since gets its
 * bytes of before, without the entry of another home that recorded its own disconnect since; of any other, only the
 * entry of the gateway is removed. A token that was created for the client is removed, too.
 */

import { existsSync } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { tokenDirectory } from "@toolcrib/auth";
import { type ClientProgram, filesOf, withoutServer } from "@toolcrib/clients";
import { errnoOf } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { removeToken } from "../token/write-token.ts";
import { changeClientFile, findClient, placesOf } from "./client-file.ts";
import { fromBytes, inFile, serverName, withoutGateway } from "./connect-client.ts";
import {
  type Connection,
  listConnections,
  lockConnections,
  readConnection,
  removeConnection,
  sha256Of,
  writeLeftFile,
} from "./connection-store.ts";
import { type FormerOwner, formerOwner, isOwnEntry } from "./entry-owner.ts";

/** The state in which a file was left. */
type Outcome = "restored" | "dropped" | "removed" | "edited" | "returned" | "unchanged" | "other" | "missing";

const outcomeTexts: { readonly [O in Outcome]: string } = {
  restored: "restored as it was before",
  dropped: "restored as it was before, without the entry of a home that was disconnected since",
  removed: "removed, as there was no file before",
  edited: "the entry is removed; what changed since stays",
  returned: "the entry is removed, and the servers that were moved are back; what changed since stays",
  unchanged: "it has no entry of this gateway any more",
  other: "its entry is for another gateway, and stays",
  missing: "its file was deleted since, so nothing is changed; only the record of the connection is removed",
};

/** The hint where no client is connected. */
const listHint = "toolcrib connect lists the clients of this machine";

/** Runs the command. */
export async function disconnectClients(
  context: CliContext,
  ids: readonly string[],
  { all }: { readonly all?: boolean; readonly yes?: boolean },
): Promise<ExitCode> {
  const { output, options } = context;
  const connected = listConnections(options.home);
  const chosen = all === true ? connected : [...new Set(ids)];
  if (chosen.length === 0) {
    const none = "no client is connected to this home";
    if (connected.length === 0)
      throw new CliError("CLI_CONNECTION_NOT_FOUND", `Nothing to disconnect: ${none}`, {
        hint: listHint,
      });
    throw new CliError("CLI_USAGE", "Name the clients to disconnect, or write --all", {
      hint: `connected: ${connected.join(", ")}`,
    });
  }
  const programs = chosen.map(findClient);
  using _lock = await lockConnections(options.home);
  const done: object[] = [];
  for (const program of programs) {
    const connection = await readConnection(options.home, program.id);
    if (connection === undefined) {
      throw new CliError("CLI_CONNECTION_NOT_FOUND", `${program.name} is not connected to this home`, {
        hint: connected.length === 0 ? listHint : `connected: ${connected.join(", ")}`,
      });
    }
    if (!isFileOf(context, program, connection)) {
      throw new CliError("CLI_FILE_UNUSABLE", `${connection.file} is no file of ${program.name}`, {
        hint: `the record of the connection is damaged: remove the entry "${serverName}" in the client, and ${join(options.home, "connections", `${program.id}.json`)}`,
      });
    }
    const { outcome, former } = await takeBack(context, program, connection);
    await removeTokenOf(context, connection);
    await removeConnection(options.home, program.id);
    const { file } = connection;
    output.print(`${output.style("green", "✓")} ${program.name}: ${outcomeTexts[outcome]}`, `    ${file}`);
    if (outcome === "dropped") output.print(`    disconnected home: ${safeLine(former?.home ?? "")}`);
    if (outcome === "restored" && former?.state === "unknown") {
      const other =
        former.home === undefined
          ? "another home"
          : `the home ${safeLine(former.home)}, which has no record of a connection to this file`;
      output.prose(
        `    its entry "${serverName}" of before is for the gateway of ${other}; if that was disconnected since, remove the entry in the client`,
      );
    }
    const { moved } = connection;
    if ((outcome === "missing" || outcome === "other") && moved.length > 0)
      output.print(
        `    the servers that were moved out of it stay in the gateway: ${moved.map(safeLine).join(", ")}`,
      );
    done.push({ client: program.id, file, outcome });
  }
  output.json({ disconnected: done });
  return exitCodes.done;
}

/** Whether a record names a file that the client has, in this environment or another one. */
function isFileOf(context: CliContext, program: ClientProgram, { file }: Connection): boolean {
  const elsewhere = filesOf(program, { platform: "linux", home: "/", settings: "/" });
  const names = [...filesOf(program, placesOf(context)), ...elsewhere].map((one) => basename(one));
  return isAbsolute(file) && names.includes(basename(file));
}

async function takeBack(
  context: CliContext,
  program: ClientProgram,
  connection: Connection,
): Promise<{ readonly outcome: Outcome; readonly former: FormerOwner | undefined }> {
  const { file, before, writtenSha256, moved, server } = connection;
  let outcome: Outcome = "unchanged";
  let former: FormerOwner | undefined;
  await changeClientFile(file, async (text) => {
    outcome = text === undefined ? "missing" : "unchanged";
    if (text === undefined) return undefined;
    if (sha256Of(text) === writtenSha256) {
      const earlier = fromBytes(before);
      outcome = earlier === undefined ? "removed" : "restored";
      if (earlier === undefined) {
        await removeFileOf(file);
        return undefined;
      }
      // The home whose entry this one replaced with --force can have been disconnected since.
      former = await formerOwner(context, earlier, program, connection);
      if (former?.state !== "gone") return earlier;
      outcome = "dropped";
      return inFile(file, () => withoutServer(earlier, program, server));
    }
    // The entry of another home, which wrote it with --force, is not taken back here.
    if (!inFile(file, () => isOwnEntry(context, text, program, connection))) {
      outcome = "other";
      await writeLeftFile(context.options.home, program.id, { file, leftSha256: sha256Of(text) });
      return undefined;
    }
    const without = inFile(file, () => withoutGateway(text, program, connection));
    if (without === text) return undefined;
    outcome = moved.length === 0 ? "edited" : "returned";
    return without;
  });
  return { outcome, former };
}

async function removeFileOf(file: string): Promise<void> {
  try {
    // Of a symbolic link, what it points to was written.
    await rm(await realpath(file));
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot remove ${file}: ${errnoOf(cause)}`, { cause });
  }
}

async function removeTokenOf(context: CliContext, { createdToken }: Connection): Promise<void> {
  if (createdToken === undefined) return;
  if (!existsSync(join(tokenDirectory(context.options.home), createdToken))) return;
  const unrecorded = await removeToken(context, createdToken);
  if (unrecorded === undefined) return;
  const { output } = context;
  const warning = output.noteStyle("yellow", "warning");
  output.note(`${warning}: the audit trail does not say that its token was revoked: ${unrecorded.message}`);
}
