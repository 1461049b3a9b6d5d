/** `toolcrib list`: lists the available tools by server. */

import type { ToolSummary } from "@toolcrib/gateway";
import { emptyText, missingOf, noteMissing, openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { noSourcesText } from "../serve/serve-text.ts";
import { asTyped } from "../serve/source-table.ts";
import { serverNotReady } from "./find-tool.ts";
import { requireServer } from "./require-server.ts";

/** Options of the command. */
export interface ListFlags {
  readonly server?: string;
  readonly tag?: string;
}

/** Runs the command. */
export async function listTools(context: CliContext, flags: ListFlags): Promise<ExitCode> {
  const { output } = context;
  const onlyServer = (ids: readonly string[]) => {
    if (flags.server !== undefined) requireServer(flags.server, ids);
    return flags.server;
  };
  await using access = await openToolAccess(context, { onlyServer });
  const all = await access.list();
  const servers = await access.servers();
  const ids = new Set([...servers.map(({ id }) => id), ...all.map(({ namespace }) => namespace)]);
  onlyServer([...ids]);
  const requested = servers.find(({ id }) => id === flags.server);
  // The tools of a server that stopped later are still listed.
  const isEmpty = !all.some(({ namespace }) => namespace === flags.server);
  if (requested !== undefined && missingOf([requested]).length > 0 && isEmpty)
    throw serverNotReady(requested, context.options.home);
  const tools = all.filter(
    ({ namespace, tags }) =>
      (flags.server === undefined || namespace === flags.server) &&
      (flags.tag === undefined || tags.includes(flags.tag)),
  );
  output.json(tools.map(toJsonTool));
  const asked = servers.filter(({ id }) => flags.server === undefined || id === flags.server);
  if (servers.length === 0 && all.length === 0)
    output.prose(`No tools. No servers yet: ${asTyped(noSourcesText("toolcrib"), context)}`);
  else if (tools.length === 0)
    output.print(
      all.length === 0
        ? emptyText(asked, "No tools.", "No tools among those")
        : emptyText(asked, "No tool matches.", "No tool matches among those"),
    );
  else {
    output.table(
      [
        { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
        { title: "DESCRIPTION", canShrink: true },
      ],
      tools.map(({ wireName, title, description }) => [wireName, firstSentence(description ?? title ?? "")]),
    );
    output.print("", output.style("dim", countOf(tools)));
  }
  noteMissing(context, asked);
  // No tool at all, because no server is available, is not an empty list.
  const isDown = asked.length > 0 && missingOf(asked).length === asked.length;
  return isDown && all.length === 0 ? exitCodes.unavailable : exitCodes.done;
}

/** Returns a tool for the list of `--json`. */
export function toJsonTool({
  id,
  wireName,
  namespace,
  origin,
  tags,
  title,
  description,
}: ToolSummary): object {
  return { id, name: wireName, namespace, origin, tags, title, description };
}

/** Returns the first sentence of a description, for a table. */
export function firstSentence(text: string): string {
  const line = safeLine(text.trim().split(/\n\s*\n/, 1)[0] ?? "");
  return /^.{20,}?[.!?](?=\s[A-Z(])/.exec(line)?.[0] ?? line;
}

function countOf(tools: readonly ToolSummary[]): string {
  const servers = new Set(tools.map(({ namespace }) => namespace)).size;
  const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  return `${plural(tools.length, "tool")} of ${plural(servers, "server")}`;
}
