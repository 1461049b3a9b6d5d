/** `toolcrib import openapi`: converts an OpenAPI document to a manifest and a toolspec. Overwrites nothing without `--force`. */

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hasErrors } from "@toolcrib/diagnostics";
import { createFile, reasonOf } from "@toolcrib/files";
import { type ImportOptions, importOpenapi, listOpenapi } from "@toolcrib/openapi";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { withProgress } from "../progress/progress.ts";
import { writeUserFile } from "../write-user-file.ts";
import { openDocumentReader } from "./document-reader.ts";
import { noteFindings, printImport, printOperations } from "./print-import.ts";

/** Options of the command. */
export interface ImportOpenapiFlags {
  readonly operation?: readonly string[];
  readonly tag?: readonly string[];
  readonly path?: readonly string[];
  readonly method?: readonly string[];
  readonly name?: string;
  readonly specVersion?: string;
  readonly baseUrl?: string;
  readonly maxTools?: number;
  readonly keepArgument?: readonly string[];
  readonly hideArgument?: readonly string[];
  readonly out: string;
  readonly list?: boolean;
  readonly force?: boolean;
}

/** Characters of a document from which on its conversion takes long. */
const longDocumentLength = 2_000_000;

/** Maximum number of findings in the error of a failed import. */
const shownMaxCount = 20;

/** Runs the command. */
export async function importDocument(
  context: CliContext,
  place: string,
  flags: ImportOpenapiFlags,
): Promise<ExitCode> {
  const { output } = context;
  await using reader = await withProgress(context, `Reading ${place}`, () =>
    openDocumentReader(context, place),
  );
  if (flags.list === true) {
    const { operations, diagnostics } = listOpenapi(reader.source);
    if (hasErrors(diagnostics)) throw failed(place, diagnostics);
    printOperations(output, operations, diagnostics);
    return exitCodes.done;
  }
  const { source } = reader;
  const report = await withProgress(context, `Importing ${place}`, (progress) => {
    progress.step("converting its operations", { isLong: source.text.length > longDocumentLength });
    return importOpenapi(source, toOptions(flags, reader.readReference));
  });
  const { value, diagnostics } = report;
  if (value === undefined) throw failed(place, diagnostics);
  const { name, version } = value.manifest;
  const files = {
    manifest: join(flags.out, "manifests", name, `${version}.yaml`),
    toolspec: join(flags.out, "toolspecs", name, `${version}.yaml`),
  };
  await writeBoth(context, flags, [
    [files.manifest, value.manifestText],
    [files.toolspec, value.toolspecText],
  ]);
  noteFindings(output, diagnostics);
  const { home, isHomeGiven } = context.options;
  printImport(output, { ...report, value }, { ...files, home: isHomeGiven ? home : undefined });
  return exitCodes.done;
}

function toOptions(flags: ImportOpenapiFlags, readReference: ImportOptions["readReference"]): ImportOptions {
  return {
    ...(flags.operation === undefined ? {} : { operations: flags.operation }),
    ...(flags.tag === undefined ? {} : { tags: flags.tag }),
    ...(flags.path === undefined ? {} : { paths: flags.path }),
    ...(flags.method === undefined ? {} : { methods: flags.method }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.specVersion === undefined ? {} : { version: flags.specVersion }),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
    ...(flags.maxTools === undefined ? {} : { toolsMaxCount: flags.maxTools }),
    ...(flags.keepArgument === undefined ? {} : { keepArguments: flags.keepArgument }),
    ...(flags.hideArgument === undefined ? {} : { hideArguments: flags.hideArgument }),
    ...(readReference === undefined ? {} : { readReference }),
  };
}

function failed(place: string, diagnostics: ImportDiagnostics): CliError {
  // If nothing can be imported, the warnings explain why.
  const order = [...diagnostics].sort(
    (a, b) => Number(b.severity === "error") - Number(a.severity === "error"),
  );
  const shown = order.slice(0, shownMaxCount);
  return new CliError("CLI_IMPORT_FAILED", `Cannot import "${place}"`, { data: { diagnostics: shown } });
}

type ImportDiagnostics = Awaited<ReturnType<typeof importOpenapi>>["diagnostics"];

/** @throws {CliError} `CLI_FILE_EXISTS` before anything is written, `CLI_FILE_UNUSABLE` */
async function writeBoth(
  context: CliContext,
  flags: ImportOpenapiFlags,
  files: readonly (readonly [path: string, text: string])[],
): Promise<void> {
  const isForced = flags.force === true;
  for (const [path] of files) {
    if (isForced || !existsSync(resolve(context.directory, path))) continue;
    throw new CliError("CLI_FILE_EXISTS", `"${path}" already exists`, {
      hint: "use another --spec-version or --out, or overwrite it with --force",
    });
  }
  for (const [path, text] of files) {
    const full = resolve(context.directory, path);
    try {
      await mkdir(dirname(full), { recursive: true });
      if (isForced) await writeUserFile(full, text);
      else if (!(await createFile({ randomBytes }, full, text, { mode: 0o644 }))) {
        throw new Error("it already exists");
      }
    } catch (error) {
      throw new CliError("CLI_FILE_UNUSABLE", `Cannot write "${path}": ${reasonOf(error)}`);
    }
  }
}
