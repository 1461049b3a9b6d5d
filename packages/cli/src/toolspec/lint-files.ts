/** `toolcrib lint-toolspecs` and `toolcrib lint-manifests`: report every problem of every file. They change nothing. */

import { hash } from "node:crypto";
import { resolve } from "node:path";
import { readAdoptedAt } from "@toolcrib/config";
import { formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { documentMaxBytes } from "@toolcrib/document";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { type HostDenylist, parseHostDenylist } from "@toolcrib/hosts";
import { jsonPathFault } from "@toolcrib/toolpack";
import { type CatalogFile, type CatalogReport, layoutOf, lintCatalog } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { readCatalog } from "./catalog-files.ts";

/** Runs `lint-toolspecs`. */
export async function lintToolspecs(context: CliContext, path: string): Promise<ExitCode> {
  const { files, isFolder } = await readCatalog(context.directory, path, "toolspec");
  const report = lintCatalog(files, { subject: "toolspecs", needsToolspecs: isFolder, jsonPathFault });
  if (report.toolspecCount === 0 && report.diagnostics.length === 0) throw nothingFound("toolspec", path);
  return show(context, report, `lint-toolspecs OK: ${report.toolspecCount} toolspec(s)`);
}

/** Options of `lint-manifests`. */
export interface LintManifestsFlags {
  readonly denylist?: string;
  readonly requireDigests?: boolean;
}

/** Runs `lint-manifests`. */
export async function lintManifests(
  context: CliContext,
  path: string,
  flags: LintManifestsFlags,
): Promise<ExitCode> {
  const { files: found } = await readCatalog(context.directory, path, "manifest");
  const files = await Promise.all(found.map((file) => withLock(context, file)));
  const denylist = flags.denylist === undefined ? undefined : await readDenylist(context, flags.denylist);
  const report = lintCatalog(files, {
    subject: "manifests",
    denylist,
    needsDigests: flags.requireDigests === true,
  });
  if (report.manifestCount === 0 && report.diagnostics.length === 0) throw nothingFound("manifest", path);
  return show(context, report, `lint OK: ${report.manifestCount} manifest(s)`);
}

/** Adds the digest of the lock beside a manifest: a server is not fetched where both differ. */
async function withLock(context: CliContext, file: CatalogFile): Promise<CatalogFile> {
  if ((file.kind ?? layoutOf(file.path)?.kind) !== "manifest") return file;
  const files = await readAdoptedAt(resolve(context.directory, file.name ?? file.path), {
    ...toLoadConfigDeps(context),
    readFile: readRegularFile,
  });
  if ("code" in files) throw new CliError("CLI_FILE_UNUSABLE", files.message, { hint: files.hint });
  const { lock } = files;
  return {
    ...file,
    lock: { lockDigest: lock && hash("sha256", new TextDecoder().decode(lock.text), "hex") },
  };
}

function nothingFound(kind: "manifest" | "toolspec", path: string): CliError {
  const places =
    kind === "manifest"
      ? "manifests/NAME/VERSION.yaml, or NAME.yaml next to NAME.toolspec.yaml"
      : "toolspecs/NAME/VERSION.yaml, or NAME.toolspec.yaml next to NAME.yaml";
  return new CliError("CLI_USAGE", `Found no ${kind} in "${path}"`, {
    hint: `name one file, or a folder with ${places}`,
  });
}

async function readDenylist(context: CliContext, path: string): Promise<HostDenylist> {
  let text: string;
  try {
    const { bytes } = await readRegularFile(resolve(context.directory, path), documentMaxBytes);
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CliError("CLI_USAGE", `Cannot read the denylist "${path}": ${reasonOf(error)}`);
  }
  const denylist = parseHostDenylist(text);
  const [first] = denylist.unreadable;
  // A partially parsed list would allow hosts that it should deny.
  if (first !== undefined) {
    const message = `Cannot read line ${first.lineNumber} of the denylist "${path}": it is not a host name`;
    throw new CliError("CLI_USAGE", message, {
      hint: "a line is a name such as example.com; # starts a comment",
    });
  }
  return denylist;
}

function show({ output }: CliContext, report: CatalogReport, done: string): ExitCode {
  const { diagnostics, manifestCount, toolspecCount } = report;
  const isValid = !hasErrors(diagnostics);
  if (!output.isJson && diagnostics.length > 0) {
    const errorCount = diagnostics.filter(({ severity }) => severity === "error").length;
    const counts = `${errorCount} error(s), ${diagnostics.length - errorCount} warning(s)`;
    output.note(formatDiagnostics(diagnostics), "", counts);
  }
  if (isValid) output.print(done);
  output.json({
    ok: isValid,
    manifests: manifestCount,
    toolspecs: toolspecCount,
    diagnostics: diagnostics.map(toJsonDiagnostic),
  });
  return isValid ? exitCodes.done : exitCodes.failed;
}
