/**
 * `toolcrib connect`: writes this gateway into the files of clients, after it showed what it would write and the user
 * agreed. Everything else in a file keeps its bytes, and the file as it was is kept for `toolcrib disconnect`.
 */

import { setTimeout as sleep } from "node:timers/promises";
import {
  type ClientProgram,
  clientPrograms,
  hasServer,
  serverIn,
  withoutServer,
  withServer,
} from "@toolcrib/clients";
import { type CodedError, isCodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import {
  changeClientFile,
  clientFile,
  findClient,
  isInstalled,
  readClientFile,
  requireWritable,
} from "./client-file.ts";
import {
  type Connection,
  listConnections,
  lockConnections,
  readConnection,
  removeLeftFile,
  sha256Of,
  writeConnection,
} from "./connection-store.ts";
import { isOwnEntry, ownerOf } from "./entry-owner.ts";
import { ensureToken, type GatewayEntry, gatewayEntry } from "./gateway-entry.ts";
import { noteOtherConfiguration } from "./other-configuration.ts";
import { tokenState } from "./token-state.ts";

/** Options of the command. */
export interface ConnectFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly print?: boolean;
  readonly stdio?: boolean;
  readonly force?: boolean;
}

/** The name of the gateway in the files of clients. */
export const serverName = "toolcrib";

/** Runs the command. */
export async function connectClients(
  context: CliContext,
  ids: readonly string[],
  flags: ConnectFlags,
): Promise<ExitCode> {
  if (ids.length === 0 && flags.all !== true) return await listClients(context);
  const programs = chosenPrograms(context, ids, flags);
  const { output } = context;
  if (flags.print === true) return await printEntries(context, programs, flags);
  const { changes, skipped } = await planChanges(context, programs, flags);
  for (const one of skipped) showSkipped(context, one);
  const left = skipped.map(({ program, error }) => ({
    client: program.id,
    code: error.code,
    reason: error.message,
  }));
  for (const change of changes) showChange(context, change);
  const [awaited] = changes.flatMap(({ gateway }) => gateway.awaitedUrl ?? []);
  if (awaited !== undefined) {
    output.prose(
      "",
      `No gateway runs for this home now. The clients get the address of serve.listen, ${awaited}, and connect once one listens there: ${ownCommand(context)} serve`,
    );
  }
  if (flags.stdio !== true) noteOtherConfiguration(context, "the clients get the servers of that gateway");
  if (!(await isAgreed(context, flags))) {
    output.json({ connected: [], files: changes.map(({ file }) => file), skipped: left });
    return exitCodes.failed;
  }
  // Two commands at once would not know which of them created a token.
  using _lock = await lockConnections(context.options.home);
  const created = await createTokens(context, changes);
  for (const change of changes) {
    await makeChange(context, change, created, flags);
    const { program, file } = change;
    output.prose(`${output.style("green", "✓")} ${program.name}: ${program.reload}`, `    ${file}`);
  }
  output.json({
    connected: changes.map(({ program, file, gateway }) => ({
      client: program.id,
      file,
      ...tokenMember(gateway),
    })),
    skipped: left,
  });
  const connected = changes.map(({ program }) => program.id).join(" ");
  output.prose("", `Take it back with ${ownCommand(context)} disconnect ${connected}`);
  if (skipped.length === 0) return exitCodes.done;
  const names = skipped.map(({ program }) => program.id).join(" ");
  output.note(
    `Not connected: ${names}. Fix what is said above, then: ${ownCommand(context)} connect ${names}`,
  );
  return exitCodes.failed;
}

/** A planned change of a file. */
interface Change {
  readonly program: ClientProgram;
  readonly file: string;
  /** Undefined where there is no file. */
  readonly before: string | undefined;
  readonly gateway: GatewayEntry;
}

/** A client that --all leaves out, and why. */
interface Skipped {
  readonly program: ClientProgram;
  readonly error: CodedError;
}

/** Plans the changes of all files. With --all, a client whose file cannot be changed is left out. @throws {CliError} where none can */
async function planChanges(
  context: CliContext,
  programs: readonly ClientProgram[],
  flags: ConnectFlags,
): Promise<{ readonly changes: readonly Change[]; readonly skipped: readonly Skipped[] }> {
  const changes: Change[] = [];
  const skipped: Skipped[] = [];
  for (const program of programs) {
    try {
      changes.push(await planChange(context, program, flags));
    } catch (error) {
      if (flags.all !== true || !isCodedError(error)) throw error;
      skipped.push({ program, error });
    }
  }
  const [first] = skipped;
  if (changes.length === 0 && first !== undefined) throw first.error;
  return { changes, skipped };
}

function showSkipped({ output }: CliContext, { program, error }: Skipped): void {
  const hint = error.hint === undefined ? [] : [`  hint: ${error.hint}`];
  output.note(`${output.noteStyle("red", "✗")} ${program.name} is left out: ${error.message}`, ...hint);
}

function chosenPrograms(
  context: CliContext,
  ids: readonly string[],
  { all }: ConnectFlags,
): readonly ClientProgram[] {
  if (ids.length > 0 && all === true) {
    throw new CliError("CLI_USAGE", "Name clients, or write --all", {});
  }
  if (ids.length > 0) return [...new Set(ids)].map(findClient);
  const installed = clientPrograms.filter((program) => isInstalled(program, context));
  if (all === true && installed.length > 0) return installed;
  throw new CliError("CLI_USAGE", "No client is found on this machine", {
    hint: `name one: ${clientPrograms.map(({ id }) => id).join(", ")}`,
  });
}

/** Prints the clients on this machine, and which of them are connected. */
async function listClients(context: CliContext): Promise<ExitCode> {
  const { output, options } = context;
  const connected = new Set(listConnections(options.home));
  const clients: ListedClient[] = [];
  for (const program of clientPrograms) {
    if (!isInstalled(program, context) && !connected.has(program.id)) continue;
    const token = await tokenState(context, program);
    clients.push({
      client: program.id,
      name: program.name,
      file: clientFile(program, context),
      isConnected: connected.has(program.id),
      isTokenMissing: token === "revoked",
      isTokenReplaced: token === "replaced",
    });
  }
  output.json({ clients, known: clientPrograms.map(({ id }) => id) });
  if (clients.length === 0) {
    output.prose(
      `No client is found on this machine. These are known: ${clientPrograms.map(({ id }) => id).join(", ")}`,
    );
    return exitCodes.done;
  }
  output.table(
    [{ title: "CLIENT" }, { title: "CONNECTED" }, { title: "FILE" }],
    clients.map((one) => [one.client, connectedText(one), one.file]),
  );
  const refused = clients.find((one) => one.isTokenMissing || one.isTokenReplaced);
  if (refused !== undefined)
    output.prose(
      "",
      `The token of a client was revoked${refused.isTokenReplaced ? ", and its file has the old one" : ""}: the gateway refuses it. Write a new one with ${ownCommand(context)} connect ${refused.client}, or take the entry back with ${ownCommand(context)} disconnect ${refused.client}`,
    );
  output.print("", `Connect one with ${ownCommand(context)} connect CLIENT, or all with --all`);
  return exitCodes.done;
}

/** A client in the list. */
interface ListedClient {
  readonly client: string;
  readonly name: string;
  readonly file: string;
  readonly isConnected: boolean;
  /** Whether the token that was created for it does not exist any more. */
  readonly isTokenMissing: boolean;
  /** Whether its file has another token than the one of its name, such as one that was revoked and created again. */
  readonly isTokenReplaced: boolean;
}

function connectedText({ isConnected, isTokenMissing, isTokenReplaced }: ListedClient): string {
  if (!isConnected) return "no";
  if (isTokenReplaced) return "token replaced";
  return isTokenMissing ? "token revoked" : "yes";
}

async function planChange(context: CliContext, program: ClientProgram, flags: ConnectFlags): Promise<Change> {
  const file = clientFile(program, context);
  const before = await readClientFile(file);
  requireWritable(file);
  const [present, gateway] = [
    inFile(file, () => hasServer(before ?? "", program, serverName)),
    await gatewayEntry(context, program, flags.stdio === true),
  ];
  const connection = await readConnection(context.options.home, program.id);
  const isOwn =
    connection?.file === file && inFile(file, () => isOwnEntry(context, before ?? "", program, connection));
  if (present && !isOwn && flags.force !== true) {
    throw new CliError(
      "CLI_FILE_EXISTS",
      `${file} has a server "${serverName}" that this home did not write`,
      {
        hint: "remove it in the client, or replace it with --force",
      },
    );
  }
  // Before anything is written, so that of several clients all are connected, or none.
  inFile(file, () => withServer(before ?? "", program, serverName, gateway.entry));
  return { program, file, before, gateway };
}

/** Milliseconds until a running gateway accepts a new token: it looks for them every second. */
const tokenDelayMs = 1100;

/** Creates the tokens that are missing, and waits until a running gateway accepts them. @returns their names */
async function createTokens(context: CliContext, changes: readonly Change[]): Promise<ReadonlySet<string>> {
  const created = new Set<string>();
  for (const { gateway } of changes) {
    if (gateway.token !== undefined && (await ensureToken(context, gateway.token)))
      created.add(gateway.token);
  }
  const isAwaited = created.size > 0 && findRunningGateways(context.options.home).length > 0;
  if (isAwaited) await sleep(tokenDelayMs, undefined, { signal: context.signal });
  return created;
}

/** A client, and the names of its servers that the gateway serves from now on. */
export interface Move {
  readonly program: ClientProgram;
  readonly names: readonly string[];
  /** The file of the client when the move was planned. */
  readonly text: string;
}

/**
 * Writes the gateway into the files of clients in the place of servers. A server whose entry changed since the move
 * was planned stays.
 *
 * @returns the names of the servers that were moved, for each move
 * @throws {CliError}
 */
export async function connectInPlace(
  context: CliContext,
  moves: readonly Move[],
): Promise<readonly (readonly string[])[]> {
  const planned: { readonly change: Change; readonly move: Move }[] = [];
  for (const move of moves) planned.push({ change: await planChange(context, move.program, {}), move });
  using _lock = await lockConnections(context.options.home);
  const changes = planned.map(({ change }) => change);
  const created = await createTokens(context, changes);
  const moved: (readonly string[])[] = [];
  for (const { change, move } of planned) moved.push(await makeChange(context, change, created, {}, move));
  return moved;
}

/** @returns the servers that were moved */
async function makeChange(
  context: CliContext,
  { program }: Change,
  created: ReadonlySet<string>,
  flags: ConnectFlags,
  move?: Move,
): Promise<readonly string[]> {
  const { home } = context.options;
  // With the token that exists now, and with what the client wrote into its file since the preview.
  const { file, gateway } = await planChange(context, program, flags);
  const earlier = await readConnection(home, program.id);
  let names: readonly string[] = [];
  await changeClientFile(file, async (before) => {
    const text = inFile(file, () => {
      names = move === undefined ? [] : unchangedNames(move, before ?? "");
      const rest = names.reduce((one, name) => withoutServer(one, program, name), before ?? "");
      return withServer(rest, program, serverName, gateway.entry);
    });
    const isCreated = gateway.token !== undefined && created.has(gateway.token);
    const createdToken = isCreated ? gateway.token : earlier?.createdToken;
    await writeConnection(home, program.id, {
      file,
      server: serverName,
      before: toBytes(fileBefore(program, before, file, earlier)),
      writtenSha256: sha256Of(text),
      owner: ownerOf(serverIn(text, program, serverName)),
      createdToken,
      moved: [...new Set([...(earlier?.file === file ? earlier.moved : []), ...names])],
    });
    return text;
  });
  return names;
}

/** The servers of a move that a file has as they were shown. */
function unchangedNames({ program, names, text }: Move, now: string): readonly string[] {
  const entry = (one: string, name: string) => JSON.stringify(serverIn(one, program, name));
  return names.filter((name) => entry(text, name) !== undefined && entry(text, name) === entry(now, name));
}

/** The file as it is without this gateway: of a client that was connected before, the file of that time. */
function fileBefore(
  program: ClientProgram,
  text: string | undefined,
  file: string,
  earlier: Connection | undefined,
): string | undefined {
  if (text === undefined || earlier === undefined || earlier.file !== file) return text;
  if (sha256Of(text) === earlier.writtenSha256) return fromBytes(earlier.before);
  return inFile(file, () => withoutGateway(text, program, earlier));
}

/**
 * Returns a file without the gateway, and with the servers that were moved out of it, as they were; one that is there
 * again stays.
 */
export function withoutGateway(text: string, program: ClientProgram, connection: Connection): string {
  const { server, before, moved } = connection;
  const earlier = fromBytes(before) ?? "";
  return moved.reduce(
    (one, name) => {
      const entry = hasServer(one, program, name) ? undefined : serverIn(earlier, program, name);
      return entry === undefined ? one : withServer(one, program, name, entry);
    },
    withoutServer(text, program, server, earlier),
  );
}

/** Returns a text as a record keeps it. */
function toBytes(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text).toString("base64");
}

/** Returns the text of a record. */
export function fromBytes(bytes: string | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes, "base64").toString();
}

/** Runs an edit; its errors name the file. @throws {CliError} */
export function inFile<Result>(file: string, edit: () => Result): Result {
  try {
    return edit();
  } catch (error) {
    if (!isCodedError(error)) throw error;
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot change ${file}. ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}

function showChange({ output }: CliContext, { program, file, before, gateway }: Change): void {
  const what = before === undefined ? "creates" : "changes";
  output.prose(
    `${output.style("bold", program.name)} ${gateway.connection}`,
    `  ${what} ${file}: "${serverName}" in "${program.section}"`,
  );
  output.print(
    // In the notation of the file: what is shown is what is written.
    ...withServer("", program, serverName, withoutToken(gateway.entry))
      .trimEnd()
      .split("\n")
      .map((line) => `  ${output.style("dim", line)}`),
  );
}

/** The preview is no place for a token. */
function withoutToken(entry: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(entry).replaceAll(/"Bearer [^"]*"/g, '"Bearer TOKEN"')) as JsonObject;
}

async function printEntries(
  context: CliContext,
  programs: readonly ClientProgram[],
  { stdio }: ConnectFlags,
): Promise<ExitCode> {
  const { output } = context;
  const entries: object[] = [];
  for (const program of programs) {
    const { entry } = await gatewayEntry(context, program, stdio === true);
    const file = clientFile(program, context);
    // An entry that is pasted is in use without a record.
    await removeLeftFile(context.options.home, program.id);
    // Without a token of the client's own, which only a connection creates.
    const text = withServer("", program, serverName, withoutToken(entry));
    output.print(`${output.style("bold", program.name)}  ${file}`, text.trimEnd());
    entries.push({
      client: program.id,
      file,
      section: program.section,
      name: serverName,
      entry: withoutToken(entry),
    });
  }
  output.json({ entries });
  return exitCodes.done;
}

async function isAgreed(context: CliContext, { yes }: ConnectFlags): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk(context)) {
    context.output.note("Nothing was written: confirm with --yes");
    return false;
  }
  const answer = await askLine("Write this? [y/N] ", context);
  return /^y(?:es)?$/i.test(answer);
}

function tokenMember({ token }: GatewayEntry): { readonly token?: string } {
  return token === undefined ? {} : { token };
}
