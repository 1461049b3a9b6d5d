/** Finds the tool of a command, or explains why it cannot be found. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { missingOf } from "../access/open-tool-access.ts";
import {
  isUnavailableTool,
  type ServerState,
  type ToolAccess,
  type ToolDescription,
} from "../access/tool-access.ts";
import { CliError } from "../cli-error.ts";
import { didYouMeanTool, ownNameOf, serverOfName, suggestTools } from "./tool-names.ts";

/**
 * Returns the tool named `name`.
 *
 * @throws {CliError} `CLI_TOOL_NOT_FOUND` with suggestions, or `CLI_SERVER_NOT_READY` if its server is not ready.
 * @throws {CodedError} `TOOL_UNAVAILABLE` where the gateway knows why it does not offer the tool.
 */
export async function findTool(access: ToolAccess, name: string, home: string): Promise<ToolDescription> {
  return (await access.describe(name)) ?? Promise.reject(await explainUnknownTool(access, name, home));
}

/** Explains why there is no tool named `name`. */
export async function explainUnknownTool(access: ToolAccess, name: string, home: string): Promise<Error> {
  const servers = await access.servers();
  const named = servers.find(({ id }) => id === serverOfName(name, [id]));
  if (named !== undefined && named.state !== "ready" && named.state !== "idle")
    return serverNotReady(named, home);
  const explained = await access.explain(name);
  if (explained !== undefined) return explained;
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
  // If the name has no server, the tool may belong to a server that is not ready.
  const others = named === undefined ? missingOf(servers).map(({ id }) => id) : [];
  const near = didYouMeanTool(suggestions);
  const hints = [
    ...(near === undefined ? [] : [near]),
    ...(others.length === 0 ? [] : [`the tools of ${others.join(", ")} are missing: see toolcrib list`]),
  ];
  return new CliError("CLI_TOOL_NOT_FOUND", `Unknown tool: "${shown}"`, {
    hint: hints.length === 0 ? "see toolcrib list" : hints.join("; "),
  });
}

/** Whether an error of a call means that no such tool is offered. */
export function isUnknownTool(error: unknown): boolean {
  return isUnavailableTool(error) || (isCodedError(error) && error.code === "TOOL_NOT_FOUND");
}

/**
 * Creates the error for a required server that is not ready.
 *
 * @param home the home with the logs; a server that is reached by URL has none there
 */
export function serverNotReady({ id, kind, state, reason }: ServerState, home: string): CliError {
  if (state === "disabled")
    return new CliError(
      "CLI_SERVER_NOT_READY",
      `The ${kind} "${id}" is disabled${reason === undefined ? "" : `: ${reason}`}`,
      {
        hint: `toolcrib enable server ${id} starts and offers it again`,
      },
    );
  const detail = reason === undefined ? `it is ${state}` : reason;
  if (kind === "toolspec") {
    const hint = "see toolcrib doctor; a new secret takes effect immediately";
    return new CliError("CLI_SERVER_NOT_READY", `The toolspec "${id}" is not ready: ${detail}`, { hint });
  }
  const hasLog = existsSync(join(home, "logs", `${id}.log`));
  return new CliError("CLI_SERVER_NOT_READY", `The tool server "${id}" is not ready: ${detail}`, {
    hint: hasLog ? `see toolcrib doctor, or toolcrib logs ${id}` : "see toolcrib doctor",
  });
}
