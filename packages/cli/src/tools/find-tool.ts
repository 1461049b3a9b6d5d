/** Finding the one tool that a command is about, or saying why it cannot be found. */

import { missingOf } from "../access/open-tool-access.ts";
import type { ServerState, ToolAccess, ToolDescription } from "../access/tool-access.ts";
import { CliError } from "../cli-error.ts";
import { ownNameOf, serverOfName, suggestTools } from "./tool-names.ts";

/**
 * The tool called `name`.
 *
 * @throws {CliError} `CLI_TOOL_NOT_FOUND` with suggestions, or `CLI_SERVER_NOT_READY` when its server is not there.
 */
export async function findTool(access: ToolAccess, name: string): Promise<ToolDescription> {
  return (await access.describe(name)) ?? Promise.reject(await explainUnknownTool(access, name));
}

/** Why there is no tool called `name`. */
export async function explainUnknownTool(access: ToolAccess, name: string): Promise<CliError> {
  const servers = await access.servers();
  const named = servers.find(({ id }) => id === serverOfName(name, [id]));
  if (named !== undefined && named.state !== "ready") return serverNotReady(named);
  const words = ownNameOf(name)
    .replace(/[_:./-]+/g, " ")
    .trim();
  const hits = words === "" ? [] : await access.search(words.slice(0, 200), 3);
  const suggestions = suggestTools(
    name,
    await access.list(),
    hits.map((hit) => hit.name),
  );
  const shown = name.slice(0, 200);
  // Where no server was named, the tool may be one of those that are not known now.
  const others = named === undefined ? missingOf(servers).map(({ id }) => id) : [];
  return new CliError("CLI_TOOL_NOT_FOUND", `Unknown tool: "${shown}"`, {
    hint: [
      suggestions.length === 0 ? "see toolcrib list" : `did you mean ${orList(suggestions)}?`,
      ...(others.length === 0 ? [] : [`the tools of ${others.join(", ")} are not known: see toolcrib list`]),
    ].join("; "),
  });
}

/** Whether an error of a call says that there is no such tool. */
export function isUnknownTool(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === "TOOL_NOT_FOUND";
}

/** The error for a server that is needed and is not there. */
export function serverNotReady({ id, kind, state, reason }: ServerState): CliError {
  const detail = reason === undefined ? `it is ${state}` : reason;
  if (kind === "toolspec") {
    const hint = "see toolcrib doctor; a secret that is set is taken up at once";
    return new CliError("CLI_SERVER_NOT_READY", `The toolspec "${id}" is not ready: ${detail}`, { hint });
  }
  return new CliError("CLI_SERVER_NOT_READY", `The tool server "${id}" is not ready: ${detail}`, {
    hint: `see toolcrib doctor, or what it writes to logs/${id}.log in Toolcrib's home`,
  });
}

function orList(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
