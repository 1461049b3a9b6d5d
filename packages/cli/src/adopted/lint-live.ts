/**
 * `toolcrib lint-manifests --live`: compares the tools of a manifest with those
 * that its upstream server really has. With `--write` it changes the manifest to
 * match, and records the package where nothing is recorded yet: the lock of npm or
 * Python in a file of its own, and its digest, or that of the Go module.
 */

import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isManifestPath, loadConfig, readAdoptedAt, readCatalogManifest, runnerOf } from "@toolcrib/config";
import { formatDiagnostics, hasErrors, isCodedError } from "@toolcrib/diagnostics";
import {
  adoptedSource,
  compareTools,
  lintLiveTools,
  parseManifest,
  rewriteTools,
  withDigest,
} from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { findConfigFiles } from "../config/find-config-files.ts";
import { invalidConfig, type LoadedConfig, loadCliConfig } from "../config/load-cli-config.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { fetchedStore } from "../sandbox/fetched-store.ts";
import { writeUserFile } from "../write-user-file.ts";
import { contactServer, requireRunner } from "./contact-server.ts";

/** Options of the command. */
export interface LintLiveFlags {
  readonly write?: boolean;
  readonly serverArg?: readonly string[];
  readonly env?: readonly (readonly [name: string, value: string])[];
}

type AdoptedFiles = Exclude<Awaited<ReturnType<typeof readAdoptedAt>>, { readonly code: string }>;

/** Runs the command. @param reference a name of the catalog, `NAME@VERSION`, or the path of a manifest */
export async function lintLive(
  context: CliContext,
  reference: string,
  flags: LintLiveFlags,
): Promise<ExitCode> {
  const { output } = context;
  const files = await readFiles(context, reference);
  const { name } = files.manifest;
  const text = new TextDecoder().decode(files.manifest.text);
  const { value: manifest, diagnostics } = parseManifest({ name, text });
  if (manifest === undefined || hasErrors(diagnostics)) throw invalidConfig([name], diagnostics);
  const source = adoptedSource(manifest);
  if (!("kind" in source)) throw new CliError("CLI_USAGE", source.message, { hint: source.hint });
  requireRunner(context, runnerOf(source));
  const loaded = await loadServer(context, resolve(context.directory, name), flags);
  output.note(`Starting ${manifest.name}: ${source.kind} ${source.package} ${source.version}`);
  await using contacted = await contactServer(context, loaded, serverId);
  const findings = lintLiveTools({ name, text }, contacted.tools);
  const differences = compareTools(
    (manifest.tools ?? []).map((tool) => tool.name),
    contacted.tools,
  );
  if (!output.isJson && findings.length > 0) output.note(formatDiagnostics(findings), "");
  if (flags.write !== true) {
    if (findings.length === 0)
      output.print(
        `lint OK: the manifest names the ${counted(contacted.tools.length, "tool")} of the server`,
      );
    output.json({
      ok: findings.length === 0,
      tools: contacted.tools,
      diagnostics: findings.map(toJsonDiagnostic),
    });
    return findings.length === 0 ? exitCodes.done : exitCodes.failed;
  }
  const changed = rewriteTools(text, differences);
  if (changed === undefined) {
    throw new CliError(
      "CLI_CONFIG_NOT_EDITABLE",
      `Cannot change the tools of ${name}: their notation cannot be edited automatically`,
      {
        hint: "write one tool a line: - {name: NAME, default: false}",
      },
    );
  }
  const record = source.digest === undefined ? await recordOf(context, loaded) : undefined;
  const written = record === undefined ? changed : (withDigest(changed, record.digest) ?? changed);
  if (record?.lock !== undefined) {
    const path = `${files.lockStem}${source.kind === "npm" ? ".json" : ".txt"}`;
    mkdirSync(dirname(resolve(context.directory, path)), { recursive: true });
    await writeUserFile(resolve(context.directory, path), record.lock);
    output.print(`wrote ${path}`);
  }
  if (written !== text) await writeUserFile(resolve(context.directory, name), written);
  const { missing, undeclared } = differences;
  output.print(
    written === text
      ? `${name} matches the server`
      : `wrote ${name}: ${counted(undeclared.length, "tool")} added, ${missing.length} removed${record === undefined ? "" : `, digest sha256:${record.digest}`}`,
  );
  output.json({ ok: true, tools: contacted.tools, ...differences, digest: record?.digest ?? source.digest });
  return exitCodes.done;
}

/** The id of the server in the configuration of this command: no configured server has it. */
const serverId = "lint.live";

async function readFiles(context: CliContext, reference: string): Promise<AdoptedFiles> {
  const deps = toLoadConfigDeps(context);
  const found = isManifestPath(reference)
    ? await readAdoptedAt(reference, deps)
    : await readCatalogManifest(reference, deps);
  if ("code" in found) throw new CliError("CLI_USAGE", found.message, { hint: found.hint });
  return found;
}

/** Loads a configuration with this server alone; the sections `egress` and `sandbox` are those of `--config`. */
async function loadServer(
  context: CliContext,
  manifestFile: string,
  flags: LintLiveFlags,
): Promise<LoadedConfig> {
  const transport = {
    kind: "stdio",
    manifest: manifestFile,
    args: flags.serverArg ?? [],
    env: Object.fromEntries(flags.env ?? []),
  };
  const text = JSON.stringify({ tool_servers: [{ id: serverId, transport, tools: "all" }] });
  const source = { name: "lint-manifests", text };
  const deps = { ...toLoadConfigDeps(context), needsSecrets: false };
  const { value, diagnostics } = await loadConfig([], deps, { overrides: [source] });
  if (value === undefined) throw invalidConfig([manifestFile], diagnostics);
  // The sandbox of the server hides the files, also those that this command does not read.
  const files = presentConfigFiles(context);
  if (context.options.configFiles.length === 0) return { config: value, files, warnings: [] };
  const { egress, sandbox } = (await loadCliConfig(context)).config;
  return { config: { ...value, egress, sandbox }, files, warnings: [] };
}

function presentConfigFiles(context: CliContext): readonly string[] {
  try {
    return findConfigFiles(context);
  } catch (error) {
    if (isCodedError(error) && error.code === "CLI_CONFIG_NOT_FOUND") return [];
    throw error;
  }
}

/** Returns what to record about the package that was fetched: its lock and the digest of it, or that of the Go module. */
async function recordOf(
  context: CliContext,
  { config }: LoadedConfig,
): Promise<{ readonly digest: string; readonly lock: string | undefined }> {
  const [server] = config.toolServers;
  const source = server?.adopted?.files?.source;
  const store = fetchedStore(context);
  const wanted =
    source?.kind === "python"
      ? `${source.package}==${source.version}`
      : `${source?.package}@${source?.version}`;
  const found = (await store.list())
    .filter(({ receipt: { packages, recorded } }) => packages[0] === wanted && recorded === "none")
    .at(-1);
  const record = found === undefined ? undefined : await store.recordOf(found);
  const digest = record?.lock === undefined ? record?.moduleDigest : hash("sha256", record.lock, "hex");
  if (digest === undefined) {
    throw new CliError("CLI_USAGE", `The package ${wanted} has no checksum that can be recorded`, {
      hint: "check the registry that it comes from",
    });
  }
  return { digest, lock: record?.lock };
}
