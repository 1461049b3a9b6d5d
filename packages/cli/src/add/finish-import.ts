/** Adds what a `server.json` or a bundle describes, as every other server that is added: tried and shown first. */

import { formatDiagnostics } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { CliContext } from "../cli-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { type PreparedServer, requireEntry } from "../server-import/add-server.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import { addOffer } from "./add-offer.ts";
import { type OfferFact, publisherFacts, withFlags } from "./offer.ts";
import { pinCommand } from "./offer-runner.ts";

/** Returns what adds an imported server. */
export function finishImport(flags: AddFlags) {
  return async (context: CliContext, server: PreparedServer): Promise<ExitCode> => {
    const { entry, diagnostics } = requireEntry(server);
    if (!context.output.isJson && diagnostics.length > 0)
      context.output.note(formatDiagnostics(diagnostics), "");
    const facts = Object.entries(server.facts).flatMap(([name, value]): readonly OfferFact[] =>
      typeof value === "string" ? [[name, value]] : [],
    );
    const words = commandWordsOf(entry);
    const runner = words === undefined ? undefined : await pinCommand(context, words);
    const offered = runner === undefined ? entry : withWords(entry, runner.words);
    return await addOffer(
      context,
      {
        id: String(entry["id"]),
        title: server.title,
        facts: [...facts, ...(runner === undefined ? [] : publisherFacts(runner.published))],
        entries: [withFlags(offered, flags)],
        secrets: server.secrets,
        prepare: server.prepare,
        discard: server.discard,
        ...(runner === undefined ? {} : { packages: runner.packages, registry: runner.published.kind }),
      },
      flags,
    );
  };
}

/** The command line of an entry; undefined for a server at a URL. */
function commandWordsOf({ transport }: JsonObject): readonly string[] | undefined {
  const { command, args = [] } = isJsonObject(transport) ? transport : {};
  if (typeof command !== "string" || !Array.isArray(args)) return undefined;
  return [command, ...args.map(String)];
}

function withWords(entry: JsonObject, [command = "", ...args]: readonly string[]): JsonObject {
  return { ...entry, transport: { ...(entry["transport"] as JsonObject), command, args } };
}
