/**
 * Checks the clients that were connected: that their file can be read, has the entry of this
 * gateway, and that the entry is the one that `toolcrib connect` writes now: the address, the token,
 * and for a client that starts the gateway, the command. The repair writes it in the same way as
 * `toolcrib connect`, which keeps the file as it was before.
 */

import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type ClientProgram, clientPrograms, serverIn } from "@toolcrib/clients";
import { isCodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { CliContext } from "../cli-context.ts";
import { readClientFile } from "../connect/client-file.ts";
import { connectClients } from "../connect/connect-client.ts";
import { listConnections, readConnection } from "../connect/connection-store.ts";
import { gatewayEntry } from "../connect/gateway-entry.ts";
import { exitCodes } from "../exit-codes.ts";
import { createOutput } from "../output/output.ts";
import { type Finding, failed, ok, type Repair, warning } from "./check.ts";

/** Returns a finding for each connected client. */
export async function checkClients(context: CliContext): Promise<Finding[]> {
  const ids = listConnections(context.options.home);
  if (ids.length === 0) return [ok("clients", "none is connected by this home (toolcrib connect)")];
  const findings: Finding[] = [];
  for (const id of ids) {
    const program = clientPrograms.find((one) => one.id === id);
    if (program !== undefined) findings.push(await checkClient(context, program));
  }
  return findings;
}

async function checkClient(context: CliContext, program: ClientProgram): Promise<Finding> {
  const { id } = program;
  const subject = `client ${id}`;
  const again = `toolcrib connect ${id}`;
  const connection = await readConnection(context.options.home, id);
  if (connection === undefined) {
    return failed(subject, "the record of its connection is damaged", `${again} --force`);
  }
  const { file, server } = connection;
  try {
    const text = await readClientFile(file);
    if (text === undefined)
      return warning(subject, `${file} is gone`, again, reconnecting(context, id, false));
    const entry = serverIn(text, program, server);
    if (entry === undefined) {
      return warning(
        subject,
        `${file} has no entry "${server}" any more`,
        `${again}, or toolcrib disconnect ${id}`,
      );
    }
    const words = commandLineOf(entry);
    const problem = await staleness(context, program, entry, words);
    if (problem === undefined) return ok(subject, `${file} has the entry of this gateway`);
    const isOwn = isGateway(words);
    return failed(
      subject,
      `${file}: ${problem}`,
      isOwn ? `${again} --stdio` : again,
      reconnecting(context, id, isOwn),
    );
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return failed(subject, `${file}: ${error.message}`, error.hint);
  }
}

/**
 * Returns how an entry differs from the one that connects now; undefined where it does not.
 *
 * @param words the command line in it
 */
async function staleness(
  context: CliContext,
  program: ClientProgram,
  entry: JsonObject,
  words: readonly string[],
): Promise<string | undefined> {
  // The program, and the file of this command that it runs.
  const missing = words.slice(0, 2).find((word) => isAbsolute(word) && !existsSync(word));
  if (missing !== undefined) return `its entry starts "${missing}", which does not exist`;
  const wanted = await gatewayEntry(context, program, isGateway(words));
  const named = program.isList === true ? { name: entry["name"], ...wanted.entry } : wanted.entry;
  if (isDeepStrictEqual(plain(entry), plain(named))) return undefined;
  // Another configuration or folder of the same command is a choice, and no fault.
  if (words.length > 0) return undefined;
  return `its entry does not connect to this gateway (${wanted.connection}): address or token are old`;
}

/** The program that an entry starts, and its arguments, as any client writes them; empty where it starts none. */
function commandLineOf({ command, cmd, args }: JsonObject): readonly string[] {
  return [command ?? cmd ?? [], args ?? []].flat().filter((word) => typeof word === "string");
}

/** Whether a command line starts a gateway, and not a bridge to one. */
function isGateway(words: readonly string[]): boolean {
  return words.includes("--stdio");
}

function plain(entry: object): unknown {
  return JSON.parse(JSON.stringify(entry));
}

function reconnecting(context: CliContext, id: string, isOwnGateway: boolean): Repair {
  return {
    does: `write the entry of this gateway into the file of ${id} again`,
    async run() {
      const nothing = { write: () => true } as unknown as CliContext["stdout"];
      const silent = createOutput({ stdout: nothing, stderr: nothing }, { isJson: false, noColor: true });
      const code = await connectClients({ ...context, output: silent }, [id], {
        yes: true,
        stdio: isOwnGateway,
      });
      if (code !== exitCodes.done) throw new Error(`toolcrib connect ${id} did not write the entry`);
    },
  };
}
