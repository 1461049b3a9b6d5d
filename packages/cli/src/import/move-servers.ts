/**
 * `toolcrib import --move`: takes the servers that the gateway serves out of the files of clients, and writes the gateway
 * in their place. Only the user's own file of a client is changed, the one that `toolcrib connect` writes; `toolcrib
 * disconnect` restores it. A server that could not work behind the gateway yet stays where it is.
 */

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { type ClientProgram, clientPrograms, hasServer, withoutServer, withServer } from "@toolcrib/clients";
import { isCodedError } from "@toolcrib/diagnostics";
import { openSecretStore } from "@toolcrib/secrets";
import type { CliContext } from "../cli-context.ts";
import { clientFile, readClientFile, requireWritable } from "../connect/client-file.ts";
import { connectInPlace, type Move, serverName } from "../connect/connect-client.ts";
import { readConnection } from "../connect/connection-store.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import type { ImportPlan, Origin } from "./import-types.ts";
import { shownPath } from "./show-import.ts";

/** A client whose servers move. */
export interface PlannedMove extends Move {
  readonly file: string;
}

/** The entries that move, and those that stay in the clients. */
export interface MovePlan {
  /** The ids of the servers that move, each once, however many clients have it. */
  readonly ids: readonly string[];
  readonly moves: readonly PlannedMove[];
  readonly staying: readonly { readonly origin: Origin; readonly reason: string }[];
}

interface Candidate {
  /** Its id in the configuration. */
  readonly id: string;
  readonly origin: Origin;
  /** Why the server stays in its client; undefined where nothing speaks against moving it. */
  readonly reason: string | undefined;
}

/**
 * Plans which servers of a plan move. Reads the files of the clients, and changes nothing.
 *
 * @param kept reasons of servers that stay in their clients anyway, by the ids in the configuration. @default none
 */
export async function planMoves(
  context: CliContext,
  plan: ImportPlan,
  kept: ReadonlyMap<string, string> = new Map(),
): Promise<MovePlan> {
  const staying: { readonly origin: Origin; readonly reason: string }[] = [];
  const moves: PlannedMove[] = [];
  const ids = new Set<string>();
  const candidates = await candidatesOf(context, plan);
  for (const program of clientPrograms) {
    const own = candidates.filter(({ origin }) => origin.client === program.id);
    if (own.length === 0) continue;
    const file = clientFile(program, context);
    const text = (await readClientFile(file).catch(() => undefined)) ?? "";
    const editable = await editableFile(context, program, file, text);
    const names: string[] = [];
    for (const { id, origin, reason } of own) {
      const other = reason ?? placeReason(origin, file) ?? editable(origin.name) ?? kept.get(id);
      if (other === undefined) {
        names.push(origin.name);
        ids.add(id);
      } else staying.push({ origin, reason: other });
    }
    if (names.length > 0) moves.push({ program, file, names, text });
  }
  return { ids: [...ids], moves, staying };
}

/** Every place of a server that the configuration has, or gets. */
async function candidatesOf(
  context: CliContext,
  { servers, leftOut }: ImportPlan,
): Promise<readonly Candidate[]> {
  const added = servers.flatMap(({ id, origins, secrets, unset }) => {
    const wanted = secrets.filter(({ value }) => value === undefined).map(({ name }) => name);
    return origins.map((origin) => ({ id, origin, reason: needOf(wanted, unset) }));
  });
  const present = leftOut.flatMap((one) => (one.present === undefined ? [] : [{ ...one, ...one.present }]));
  const absent = await notStored(
    context,
    present.flatMap(({ secrets }) => secrets),
  );
  return [
    ...added,
    ...present.map(({ id, origin, secrets, unset }) => ({
      id,
      origin,
      reason: needOf(
        secrets.filter((name) => absent.has(name)),
        unset,
      ),
    })),
  ];
}

/** Why a server could not work behind the gateway yet; undefined where it could. */
function needOf(secrets: readonly string[], unset: readonly string[]): string | undefined {
  if (secrets.length > 0) return `it needs ${secrets.join(", ")}, which only you have`;
  return unset.length === 0 ? undefined : `it needs ${unset.join(", ")} in the environment of the gateway`;
}

/** Returns the names that the secret store of the home does not have. */
async function notStored(
  { options, env, now }: CliContext,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0 || !existsSync(options.home)) return new Set(names);
  await using store = await openSecretStore({ home: options.home, env }, { now, randomBytes });
  const absent = new Set<string>();
  for (const name of names) if ((await store.get(name)) === undefined) absent.add(name);
  return absent;
}

function placeReason({ project, file }: Origin, own: string): string | undefined {
  if (project !== undefined) return "it belongs to a project";
  return file === own ? undefined : "toolcrib connect does not write this file";
}

/** Returns why a server cannot be taken out of the file of a client; undefined where it can. */
async function editableFile(
  context: CliContext,
  program: ClientProgram,
  file: string,
  text: string,
): Promise<(name: string) => string | undefined> {
  const reasonOf = (work: () => string | undefined): string | undefined => {
    try {
      return work();
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return error.message;
    }
  };
  const isOwn = (await readConnection(context.options.home, program.id))?.file === file;
  const refusal = reasonOf(() => {
    requireWritable(file);
    const isForeign = !isOwn && hasServer(text, program, serverName);
    return isForeign ? `the file has a server "${serverName}" that this home did not write` : undefined;
  });
  return (name) =>
    refusal ??
    reasonOf(() => {
      if (!hasServer(text, program, name)) return `"${program.section}" of the file does not have it`;
      withServer(withoutServer(text, program, name), program, serverName, {});
      return undefined;
    });
}

/** Shows what would move, and what stays. */
export function showMoves(context: CliContext, { moves, staying }: MovePlan): void {
  const { output } = context;
  const section = (title: string, lines: readonly string[]) => {
    if (lines.length > 0)
      output.prose("", output.style("bold", title), ...lines.map((line) => `  ${safeLine(line)}`));
  };
  section(
    "Move out of the clients, which get the gateway in their place:",
    moves.map(
      ({ program, file, names }) => `${program.name}, ${shownPath(file, context)}: ${names.join(", ")}`,
    ),
  );
  section(
    "Stay in the clients:",
    staying.map(
      ({ origin, reason }) =>
        `${origin.name} (${origin.client}, ${shownPath(origin.file, context)}:${origin.line}): ${reason}`,
    ),
  );
}

/** Moves the servers. @returns what moved @throws {CliError} */
export async function makeMoves(context: CliContext, { moves }: MovePlan): Promise<readonly PlannedMove[]> {
  const { output } = context;
  const moved = await connectInPlace(context, moves);
  for (const [at, { program, file, names }] of moves.entries()) {
    const own = moved[at] ?? [];
    output.print(
      `${output.style("green", "✓")} ${program.name}: ${counted(own.length, "server")} moved; ${program.reload}`,
      `    ${shownPath(file, context)}`,
    );
    const left = names.filter((name) => !own.includes(name)).map(safeLine);
    if (left.length > 0)
      output.note(
        `The client changed ${left.join(", ")} meanwhile; repeat the command to move it as it is now`,
      );
  }
  return moves.map((move, at) => ({ ...move, names: moved[at] ?? [] }));
}

/** Returns the moves for `--json`. */
export function movesJson({
  moves,
}: Pick<MovePlan, "moves">): { client: string; file: string; servers: string[] }[] {
  return moves.map(({ program, file, names }) => ({ client: program.id, file, servers: [...names] }));
}
