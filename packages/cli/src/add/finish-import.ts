/** Adds what a `server.json` or a bundle describes, as every other server that is added: tried and shown first. */

import { formatDiagnostics } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { type PreparedServer, requireEntry } from "../server-import/add-server.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import { addOffer } from "./add-offer.ts";
import { type OfferFact, withFlags } from "./offer.ts";

/** Returns what adds an imported server. */
export function finishImport(flags: AddFlags) {
  return async (context: CliContext, server: PreparedServer): Promise<ExitCode> => {
    const { entry, diagnostics } = requireEntry(server);
    if (!context.output.isJson && diagnostics.length > 0)
      context.output.note(formatDiagnostics(diagnostics), "");
    const facts = Object.entries(server.facts).flatMap(([name, value]): readonly OfferFact[] =>
      typeof value === "string" ? [[name, value]] : [],
    );
    return await addOffer(
      context,
      {
        id: String(entry["id"]),
        title: server.title,
        facts,
        entries: [withFlags(entry, flags)],
        secrets: server.secrets,
        prepare: server.prepare,
      },
      flags,
    );
  };
}
