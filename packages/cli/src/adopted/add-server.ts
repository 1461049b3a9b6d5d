/**
 * `toolcrib add` of a server that a manifest adopts (document 000, tier 1): it
 * shows where the server comes from and what it reaches, fetches or builds it in a
 * sandbox, starts it contained, reports in which tools the manifest and the server
 * differ, adds it to the configuration, and asks once to approve its tools.
 * Nothing is added when the server does not start.
 */

import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { type GatewayConfig, readAdoptedAt, runnerOf } from "@toolcrib/config";
import { hasErrors } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { localIdentity } from "@toolcrib/tool";
import { adoptedSource, offeredTools, parseManifest } from "@toolcrib/toolspec";
import { gatewayLines } from "../add/gateway-lines.ts";
import { samePackageFacts } from "../add/same-package.ts";
import { printDefinitions, printFacts, unseenFacts } from "../add/show-offer.ts";
import { definitionsOf, uncountedOf } from "../add/trial.ts";
import { withoutUnsaved } from "../add/unsaved-packages.ts";
import { askAboutWaiting } from "../approve/ask-about-waiting.ts";
import { printCallApprovals, toolsWithCallApproval } from "../approve/call-approvals.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { unseenPlaces } from "../config/lint-arguments.ts";
import { invalidConfig } from "../config/load-cli-config.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { shownEntry } from "../server-import/shown-entry.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import type { ServerEntry } from "../toolspec/catalog.ts";
import {
  type ConfigFile,
  configFilesOf,
  openConfigFile,
  presentServer,
  withEntry,
  writeConfigFile,
} from "../toolspec/config-file.ts";
import { configurationLines, factLines, headingLines } from "../toolspec/entry-text.ts";
import {
  type ObtainedSecret,
  obtainSecrets,
  type WantedSecret,
  wantedSecrets,
} from "../toolspec/obtain-secrets.ts";
import { unusedFlags, unusedFlagsLines } from "../toolspec/unused-flags.ts";
import { type ContactedServer, contactServer, requireRunner } from "./contact-server.ts";
import { differenceLines } from "./difference-lines.ts";
import { requireValues } from "./require-values.ts";

/** A server and how the configuration names its manifest. */
export interface NamedServer {
  readonly entry: ServerEntry;
  /** `NAME`, `NAME@VERSION`, or an absolute path. */
  readonly reference: string;
}

/** Reads the manifest at `path`. @throws {CliError} `CLI_USAGE`, `CLI_CONFIG_INVALID` */
export async function readServerFile(context: CliContext, path: string): Promise<NamedServer> {
  const found = await readAdoptedAt(resolve(context.directory, path), toLoadConfigDeps(context));
  if ("code" in found) throw new CliError("CLI_USAGE", found.message, { hint: found.hint });
  const { name } = found.manifest;
  const { value, diagnostics } = parseManifest({ name, text: new TextDecoder().decode(found.manifest.text) });
  if (value === undefined || hasErrors(diagnostics)) throw invalidConfig([path], diagnostics);
  const source = adoptedSource(value);
  if (!("kind" in source)) throw new CliError("CLI_USAGE", source.message, { hint: source.hint });
  return { entry: { manifest: value, source }, reference: name };
}

/** Adds a server. */
export async function addServer(
  context: CliContext,
  server: NamedServer,
  given: AddFlags,
): Promise<ExitCode> {
  const { package: name } = server.entry.source;
  const options = { packages: [name], isDry: given.dryRun === true };
  return await withoutUnsaved(context, options, () => addNamed(context, server, given));
}

async function addNamed(
  context: CliContext,
  { entry, reference }: NamedServer,
  given: AddFlags,
): Promise<ExitCode> {
  const { output } = context;
  const { manifest, source } = entry;
  if (given.variable !== undefined) {
    throw new CliError("CLI_USAGE", `${manifest.name} is a server, and has no variables of base URLs`, {
      hint: "its variables are those of its environment: --env NAME=VALUE",
    });
  }
  const file = openConfigFile(context);
  const id = given.id ?? manifest.name;
  const named = isAbsolute(reference) ? relativeTo(dirname(file.path), reference) : reference;
  if (presentServer(file, id, named) !== undefined) return alreadyPresent(context, id, file, given);
  output.print(...headingLines(entry, output), "", ...factLines(entry, output), "");
  const flags = await requireValues(context, entry, reference, given);
  requireRunner(context, runnerOf(source));
  const wanted = wantedSecrets(entry, id, new Map(flags.secret ?? []));
  // Check that the entry can be written before the user types a secret.
  const serverEntry = toServerEntry({ id, named, wanted, flags });
  const added = await withEntry(context, file, "tool_servers", serverEntry);
  printFacts(output, samePackageFacts(added.config, id, { kind: source.kind, names: [source.package] }));
  // The file can be edited while this command asks and fetches: the entry is added to what it has then.
  const write = async (): Promise<void> => {
    const current = openConfigFile(context);
    if (presentServer(current, id, named) !== undefined) return;
    const { text } = await withEntry(context, current, "tool_servers", serverEntry);
    await writeConfigFile(current, text);
  };
  if (flags.yes !== true && flags.dryRun !== true && canAsk(context)) {
    const answer = await askLine(
      `Fetch it, start it contained, and add it to ${file.shown}? [Y/n] `,
      context,
    );
    if (!/^(?:y|yes)?$/i.test(answer)) {
      output.json({ entry: shownEntry(serverEntry), file: file.path, result: "shown" });
      output.note("Nothing was added");
      return exitCodes.failed;
    }
  }
  const isDry = flags.dryRun === true;
  const isLater = flags.withoutSecrets === true || isDry;
  const secrets = await obtainSecrets(context, entry, wanted, { isLater });
  const missing = secrets.filter(({ result }) => result === "missing");
  if (missing.length > 0) {
    if (isDry) return reportDry(context, file, serverEntry);
    await write();
    return reportAdded(context, { entry, id, file, secrets, tools: [], offered: 0, approved: [] });
  }
  await using server = await contact(context, { config: added.config, file }, id, source);
  const declared = added.config.toolServers.find((one) => one.id === id);
  if (declared !== undefined)
    printFacts(
      output,
      unseenFacts(unseenPlaces(context, declared, configFilesOf(context, file, added.config))),
    );
  printDefinitions(output, definitionsOf(server, id), uncountedOf(server, id));
  output.print("");
  if (isDry) return reportDry(context, file, serverEntry);
  await write();
  output.prose(...differenceLines(server.status, output));
  const approved = await approve(context, server, id, flags);
  const offered = definitionsOf(server, id).filter(({ kind }) => kind === "tool").length;
  const callsNeedApproval = toolsWithCallApproval(id, approved, server.gateway.policySituation());
  return reportAdded(context, {
    ...{ entry, id, file, secrets, tools: server.tools, offered, approved, callsNeedApproval },
    // The question about the definitions ended with the same.
    isAnnounced: flags.yes !== true,
  });
}

function reportDry({ output }: CliContext, file: ConfigFile, entry: JsonObject): ExitCode {
  const preview = shownEntry(entry);
  output.json({ entry: preview, file: file.path, result: "shown" });
  output.print(`Would add to ${file.shown}:`, "", ...configurationLines("tool_servers", preview));
  return exitCodes.done;
}

function relativeTo(folder: string, path: string): string {
  const found = relative(folder, path).split(sep).join("/");
  return found.startsWith("..") || isAbsolute(found) ? path : `./${found}`;
}

async function contact(
  context: CliContext,
  { config, file }: { readonly config: GatewayConfig; readonly file: ConfigFile },
  id: string,
  { kind, package: name, version }: ServerEntry["source"],
): Promise<ContactedServer> {
  const verb = kind === "go" ? "Building" : "Fetching";
  noteWrapped(context, `${verb} ${name} ${version} in a sandbox, and starting it…`);
  return await contactServer(
    context,
    { config, files: configFilesOf(context, file, config), warnings: [] },
    id,
  );
}

function alreadyPresent(context: CliContext, id: string, file: ConfigFile, flags: AddFlags): ExitCode {
  const { output } = context;
  output.json({ id, file: file.path, result: "present", unused: unusedFlags(flags) });
  output.prose(`${output.style("green", "✓")} ${id} is in ${file.shown}`);
  output.prose(...unusedFlagsLines(context, { id, shown: file.shown, flags }));
  return exitCodes.done;
}

/** Approves the tools with `--yes`, or asks on a terminal. @returns the names of those that were approved */
async function approve(
  context: CliContext,
  { gateway }: ContactedServer,
  id: string,
  { yes }: AddFlags,
): Promise<readonly string[]> {
  const { digest, definitions } = gateway.approvals.definitions(id);
  if (definitions.length === 0) return [];
  if (yes === true) {
    return await gateway.approvals.approveDefinitions(id, digest, localIdentity("cli", "cli"));
  }
  await askAboutWaiting(context, gateway);
  const left = new Set(gateway.approvals.definitions(id).definitions.map(({ name }) => name));
  return definitions.flatMap(({ name }) => (left.has(name) ? [] : [name]));
}

function toServerEntry({
  id,
  named,
  wanted,
  flags,
}: {
  readonly id: string;
  readonly named: string;
  readonly wanted: readonly WantedSecret[];
  readonly flags: AddFlags;
}): JsonObject {
  const { serverArg = [], env = [], read = [], write = [], allTools } = flags;
  const containment = {
    ...(read.length === 0 ? {} : { read_paths: read }),
    ...(write.length === 0 ? {} : { filesystem_write: "scoped", write_paths: write }),
  };
  return {
    id,
    transport: {
      kind: "stdio",
      manifest: named,
      ...(serverArg.length === 0 ? {} : { args: serverArg }),
      ...(env.length === 0 ? {} : { env: Object.fromEntries(env) }),
    },
    ...(wanted.length === 0
      ? {}
      : {
          credentials: Object.fromEntries(
            wanted.map(({ credential, name }) => [credential.id, { secret_key_ref: name }]),
          ),
        }),
    ...(allTools === true ? { tools: "all" } : {}),
    ...(Object.keys(containment).length === 0 ? {} : { containment }),
  };
}

function reportAdded(
  context: CliContext,
  done: {
    readonly entry: ServerEntry;
    readonly id: string;
    readonly file: ConfigFile;
    readonly secrets: readonly ObtainedSecret[];
    /** All that the server has. */
    readonly tools: readonly string[];
    /** Those that clients get. */
    readonly offered: number;
    readonly approved: readonly string[];
    /** Names of the approved tools whose calls need approvals of their own. @default none */
    readonly callsNeedApproval?: readonly string[];
    /** Whether that was printed. @default false */
    readonly isAnnounced?: boolean;
  },
): ExitCode {
  const { output, options } = context;
  const { entry, id, file, secrets, tools, offered: offeredCount, approved, callsNeedApproval = [] } = done;
  const command = ownCommand(context);
  const { name, version } = entry.manifest;
  output.json({
    id,
    name,
    version,
    file: file.path,
    result: "added",
    secrets,
    tools,
    approved,
    callsNeedApproval,
  });
  const check = output.style("green", "✓");
  const mark = output.style("yellow", "!");
  for (const one of secrets) {
    if (one.result === "kept") output.prose(`${check} stored the secret ${one.name}`);
    if (one.result === "found") output.prose(`${check} found the secret ${one.name}`);
    if (one.result === "missing")
      output.prose(`${mark} store its secret: ${command} secret set ${shellQuote(one.name)}`);
  }
  const all = counted(tools.length, "tool");
  const count = offeredCount === tools.length ? all : `${offeredCount} of its ${all} (--all-tools: all)`;
  if (tools.length > 0) output.prose(`${check} it runs contained, with ${count}`);
  output.prose(`${check} added ${id} to ${file.shown}`);
  if (approved.length > 0) output.prose(`${check} approved ${counted(approved.length, "definition")}`);
  else if (tools.length > 0 || secrets.some(({ result }) => result === "missing"))
    output.prose(`${mark} approve its tools: ${command} approve ${shellQuote(id)}`);
  if (done.isAnnounced !== true) printCallApprovals(context, id, callsNeedApproval, approved.length);
  output.prose(...gatewayLines(context, file));
  const configFlag = options.configFiles.map((path) => ` --config ${shellQuote(path)}`).join("");
  const offered = offeredTools(entry.manifest, [], "default");
  output.print("", output.style("bold", "Try"), `  ${command} list --server ${safeLine(id)}${configFlag}`);
  const [first] = offered;
  if (first !== undefined)
    output.print(`  ${command} describe ${shellQuote(`${id}__${first}`)}${configFlag}`);
  return exitCodes.done;
}
