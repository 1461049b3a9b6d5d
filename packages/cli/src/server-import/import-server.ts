/** `toolcrib import server`: adds a server of the official MCP registry (`server.json`) to the configuration. */

import { formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { readServerJson, type ServerOffer, toServerEntry } from "@toolcrib/mcpkg-registry";
import { chosenPaths, withReadPaths } from "../add/agreed-paths.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { openDocumentReader } from "../openapi/document-reader.ts";
import { safeLine } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import {
  type FinishImport,
  finishUntried,
  type ImportServerFlags,
  openConfigFor,
  serverIdFrom,
  toGivenValues,
} from "./add-server.ts";
import { addBundle, fetchBundle } from "./import-bundle.ts";

/** Options of the command. */
export interface ServerFlags extends ImportServerFlags {
  /** Number of the offer, from 1. */
  readonly use?: number;
  readonly list?: boolean;
}

/** Runs the command. */
export async function importServer(
  context: CliContext,
  place: string,
  flags: ServerFlags,
  finish: FinishImport = finishUntried(flags),
): Promise<ExitCode> {
  const { output } = context;
  await using reader = await openDocumentReader(context, place);
  const { value, diagnostics } = readServerJson(reader.source);
  if (value === undefined || hasErrors(diagnostics)) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import "${place}"`, { data: { diagnostics } });
  }
  const { name, version, offers } = value;
  if (flags.list === true) {
    output.json({
      name,
      version,
      offers: offers.map(({ kind, label }) => ({ kind, label })),
      diagnostics: diagnostics.map(toJsonDiagnostic),
    });
    if (!output.isJson && diagnostics.length > 0) output.note(formatDiagnostics(diagnostics), "");
    output.print(`${safeLine(name)} ${safeLine(version ?? "")}`, ...numbered(offers));
    return exitCodes.done;
  }
  const offer = choose(offers, flags.use, place);
  if (offers.length > 1 && flags.use === undefined) {
    output.note(
      "The server can be run in several ways; the first one is imported (--use NUMBER for another):",
      ...numbered(offers),
    );
  }
  const id = flags.id ?? serverIdFrom(name);
  openConfigFor(context, id);
  const title = `${name}${version === undefined ? "" : ` ${version}`}`;
  if (offer.kind === "bundle") {
    if (offer.sha256 === undefined) {
      throw new CliError(
        "CLI_IMPORT_FAILED",
        `Cannot import ${offer.url}: the file states no fileSha256 of the bundle`,
        {
          hint: "download it, check it, and use: toolcrib import bundle FILE",
        },
      );
    }
    const bytes = await fetchBundle(context, offer.url);
    return await addBundle(context, bytes, {
      place: offer.url,
      id,
      sha256: offer.sha256,
      found: diagnostics,
      flags,
      finish,
    });
  }
  const imported = toServerEntry(value, offer, id, toGivenValues(flags), reader.source.name);
  const facts = { name, version, offer: offer.label };
  const { entry: written } = imported;
  const entry = written && withReadPaths(written, chosenPaths(context, written, flags.set ?? []));
  return await finish(context, { ...imported, entry, id, title, found: diagnostics, facts, lines: [] });
}

function numbered(offers: readonly ServerOffer[]): string[] {
  return offers.map(({ label }, index) => `  ${index + 1}. ${safeLine(label)}`);
}

function choose(offers: readonly ServerOffer[], use: number | undefined, place: string): ServerOffer {
  const offer = offers[(use ?? 1) - 1];
  if (offer !== undefined) return offer;
  throw new CliError(
    "CLI_USAGE",
    `"${place}" has ${offers.length} packages and endpoints, and not number ${use}`,
    {
      hint: "list them with --list",
    },
  );
}
