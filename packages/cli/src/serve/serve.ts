/**
 * `toolcrib serve`: runs the gateway as a process, over HTTP or, with `--stdio`, for
 * the client that started it. Standard output shows its address and how to use it;
 * with `--stdio` it carries only the protocol.
 */

import { resolve } from "node:path";
import { defaultTokenName, readToken } from "@toolcrib/auth";
import { CodedError, didYouMean, formatDiagnostics, isCodedError, type Logger } from "@toolcrib/diagnostics";
import { type Gateway, startGateway } from "@toolcrib/gateway";
import { gatewayDepsOf } from "../access/gateway-deps.ts";
import { findRunningGateways, removeRunFile, writeRunFile } from "../access/run-file.ts";
import { askAboutWaiting } from "../approve/ask-about-waiting.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type LoadedConfig, loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { noteWarning, noteWrapped } from "../output/note-wrapped.ts";
import { type Output, safeLine } from "../output/output.ts";
import { noteReport } from "../output/print-report.ts";
import { reportError } from "../output/report-error.ts";
import { version } from "../version.ts";
import { announce, announceLate, announceServers } from "./announce.ts";
import { ReadFiles } from "./file-snapshot.ts";
import { listedSources } from "./listed-sources.ts";
import { LiveReload } from "./live-reload.ts";
import { optimizeMeanwhile, optimizeWhenBusy } from "./optimizing.ts";
import { ownCommand, shortProgram } from "./own-command.ts";
import { probeAddress } from "./probe-address.ts";
import { openProgramLog, type ProgramLog } from "./program-log.ts";
import { releaseMemory } from "./release-memory.ts";
import { serveStdio, stdioIdentity, untilInterrupted } from "./serve-stdio.ts";
import type { Endpoint } from "./serve-text.ts";
import { StartBoard } from "./start-board.ts";
import { takeHome } from "./take-home.ts";
import { collectYoungObjectsAlone } from "./young-objects.ts";

/** Options of the command. */
export interface ServeFlags {
  readonly stdio?: boolean;
  readonly profile?: string;
  readonly listen?: string;
  readonly auth?: string;
  readonly mode?: string;
  readonly quiet?: boolean;
  /** Whether tools of unverified servers wait for approvals. @default true */
  readonly needsApprovals?: boolean;
}

/** Runs the command. */
export async function serve(context: CliContext, flags: ServeFlags): Promise<ExitCode> {
  const { output, options } = context;
  if (flags.stdio === true && (flags.listen !== undefined || options.isJson)) {
    throw new CliError("CLI_USAGE", `--stdio cannot be used with ${options.isJson ? "--json" : "--listen"}`, {
      hint: "with --stdio, standard input and output carry only the protocol",
    });
  }
  if (flags.profile !== undefined && flags.stdio !== true) {
    throw new CliError("CLI_USAGE", "--profile is for --stdio", {
      hint: "over HTTP, clients choose a profile by its path: /mcp/p/NAME",
    });
  }
  // What only later starts need is written when this one is over.
  const { promise: started, resolve: endStart } = Promise.withResolvers<void>();
  const reading = {
    lintsMany: optimizeMeanwhile,
    createdTokenName: flags.stdio === true ? undefined : defaultTokenName,
    writeLater: (write: () => Promise<void>) => void started.then(write),
  };
  const load = async (read: ReadFiles) => {
    const found = await loadCliConfig(context, flags, { ...reading, watched: read });
    return flags.needsApprovals === false ? withoutApprovals(found) : found;
  };
  const read = new ReadFiles();
  const loaded = await load(read);
  if (loaded.warnings.length > 0) noteReport(context, formatDiagnostics(loaded.warnings));
  await using programLog = openProgramLog(context);
  const isQuiet = flags.quiet === true || flags.stdio === true;
  const start: Start = { isShown: !isQuiet && !options.isJson, startedAt: context.now(), board: undefined };
  const logger = warnAboutContainment(context, loaded, programLog, start);
  using _home = await takeHome(options.home, loaded.config.serve.sharesHome);
  if (flags.stdio !== true) await requireFreeAddress(context, loaded);
  using reloads = new LiveReload({ output: outputAbove(output, start), load, isQuiet });
  await using gateway = await startGateway(loaded.config, {
    ...gatewayDepsOf(context, { logger, configFiles: loaded.files }),
    // A client that started this process runs as its user. Others do not learn where the home is.
    homeFlag: flags.stdio === true ? options.homeFlag : "",
    reload: () => reloads.reload(),
  });
  programLog.logger.info({ version, configFiles: loaded.files }, "gateway.started");
  await using _watch = reloads.start(gateway, read.snapshot);
  void gateway.ready().then(endStart);
  void releaseMemory(gateway);
  using _optimizing = optimizeWhenBusy(gateway);
  collectYoungObjectsAlone();
  const { profile } = flags;
  if (profile !== undefined) requireProfile(profile, gateway.profilesOf(stdioIdentity));
  if (flags.stdio === true) await serveStdio(gateway.service, context, logger, profile);
  else await serveHttp(context, gateway, loaded, { start, isQuiet });
  return exitCodes.done;
}

/** @param names the profiles that the client may use */
function requireProfile(profile: string, names: readonly string[]): void {
  if (names.includes(profile)) return;
  throw new CliError(
    "CLI_PROFILE_NOT_FOUND",
    `There is no profile ${JSON.stringify(profile)} for this client`,
    {
      hint:
        names.length === 0
          ? "the configuration has none that it may use (profiles)"
          : (didYouMean(profile, names) ?? `the profiles are ${names.join(", ")}`),
    },
  );
}

/** The Metatool document knows no approvals: its user accepts the servers by writing them down. */
function withoutApprovals(loaded: LoadedConfig): LoadedConfig {
  const { policy, toolServers } = loaded.config;
  return {
    ...loaded,
    config: {
      ...loaded.config,
      toolServers: toolServers.map((server) => ({ ...server, firstContact: "pin" })),
      policy: { ...policy, waiveApproval: ["*"] },
    },
  };
}

/** Servers that the warning about containment names. */
const warnedMaxCount = 20;

/**
 * Warns in one line about containment, declared or default, that is not enforced, and keeps the warnings about each
 * server out of the log.
 */
function warnAboutContainment(
  context: CliContext,
  { config }: LoadedConfig,
  programLog: ProgramLog,
  start: Start,
): Logger {
  const { options } = context;
  const affected = config.toolServers.filter(({ notEnforced }) => notEnforced.length > 0);
  const shown = new Map(affected.map(({ id, containment }) => [id, containment.notEnforced.join()]));
  if (affected.length > 0) {
    const names = affected.slice(0, warnedMaxCount).map(({ id }) => id);
    const more = affected.length - names.length;
    const text = `Containment is NOT enforced for ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}: ${names.length === 1 && more <= 0 ? "it runs" : "they run"} elsewhere; toolcrib${options.homeFlag} doctor shows the restrictions`;
    noteWarning(context, text);
  }
  const logger = programLog.with(loggerAbove(createCommandLogger(context, "warn"), start));
  return {
    ...logger,
    warn: (fields, message) => {
      const { server, notEnforced } = fields as { readonly server?: unknown; readonly notEnforced?: unknown };
      const isShown = Array.isArray(notEnforced) && shown.get(String(server)) === notEnforced.join();
      if (!isShown) logger.warn(fields, message);
    },
  };
}

/** The start of the servers as it is shown. */
interface Start {
  readonly isShown: boolean;
  readonly startedAt: number;
  board: StartBoard | undefined;
}

/** Writes records above the block, without those about servers whose failed start the block shows. */
function loggerAbove(logger: Logger, start: Start): Logger {
  const write = (level: keyof Logger): Logger["warn"] => {
    return (fields, message) => {
      // Only the record of a failed attempt has its number.
      const { server, attempt } = fields as { readonly server?: unknown; readonly attempt?: unknown };
      const isOfServer = typeof server === "string" && typeof attempt === "number";
      if (start.isShown && isOfServer && start.board?.willShow(server) !== false) return;
      start.board?.hide();
      logger[level](fields, message);
    };
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** Writes lines above the block. */
function outputAbove(output: Output, start: Start): Output {
  return {
    ...output,
    note(...lines) {
      start.board?.hide();
      output.note(...lines);
    },
  };
}

async function serveHttp(
  context: CliContext,
  gateway: Gateway,
  { config, files }: LoadedConfig,
  { start, isQuiet }: { readonly start: Start; readonly isQuiet: boolean },
): Promise<void> {
  const { options } = context;
  const { auth, oauth } = config.serve;
  const { url } = await listen(context, gateway, config.serve.listen.port);
  const { path: controlPath } = await gateway.listenControl();
  const acceptsTokens = auth !== "none" && oauth?.acceptsTokens !== false;
  const token = acceptsTokens ? readToken(options.home, defaultTokenName) : undefined;
  const startedAt = new Date(context.now()).toISOString();
  const configFiles = files.map((file) => resolve(context.directory, file));
  const run = { pid: process.pid, url, controlPath, startedAt, version, auth, configFiles };
  const others = findRunningGateways(options.home);
  await writeRunFile(options.home, run);
  // A second Ctrl-C ends the process at once, without the `finally` block.
  const removeOwnRunFile = () => removeRunFile(options.home, process.pid);
  process.on("exit", removeOwnRunFile);
  try {
    const issuers = oauth?.issuers.map(({ issuer }) => issuer) ?? [];
    const endpoint = { url, home: options.home, token, issuers };
    if (auth === "none")
      noteWarning(
        context,
        "The gateway requires no token (auth: none): every program on this machine can use the tools",
      );
    for (const other of others) {
      noteWrapped(
        context,
        `Another gateway of this home runs at ${safeLine(other.url)} (process ${other.pid}); both use the tokens, secrets, saved tools and audit trail of the home`,
      );
    }
    if (!isQuiet) announce(context, endpoint, gateway.status());
    using board = new StartBoard(context, listedSources(gateway.sources()), start.startedAt);
    start.board = board;
    const announced = start.isShown ? announceStart(context, gateway, endpoint, board) : undefined;
    await untilInterrupted(context);
    board.hide();
    noteWrapped(context, "Stopping; calls in flight have 10 s to finish (Ctrl-C again to stop at once)");
    await announced;
  } finally {
    removeOwnRunFile();
    process.off("exit", removeOwnRunFile);
  }
}

async function announceStart(
  context: CliContext,
  gateway: Gateway,
  endpoint: Endpoint,
  board: StartBoard,
): Promise<void> {
  const { output, options } = context;
  const program = shortProgram(context);
  try {
    await announceServers(context, gateway, endpoint, board);
    await askAboutWaiting(context, gateway);
  } catch (error) {
    board.hide();
    // Ctrl-C ends the gateway, which says so.
    if (context.signal.aborted) return;
    // Ctrl-D, or an approval that cannot be stored, ends a command that only asks; clients go on using this one.
    if (!isCodedError(error) || error.code !== "CLI_INTERRUPTED")
      reportError(output, error, { ...options, program });
    output.note(`Nothing more is asked; decide later with ${ownCommand(context)} approve`);
  }
  await announceLate(context, gateway, board);
}

/** Fails before anything is recorded, fetched or started where the gateway could not listen. */
async function requireFreeAddress({ options }: CliContext, { config }: LoadedConfig): Promise<void> {
  const { host, port } = config.serve.listen;
  if (port === 0 || (await probeAddress({ host, port })) !== "EADDRINUSE") return;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const hint = addressHint(options.home, port);
  throw new CodedError("HTTP_ADDRESS_IN_USE", `Cannot listen on ${place}: the address is in use`, { hint });
}

/** Another program can take the address after `requireFreeAddress`. */
async function listen(
  { options }: CliContext,
  gateway: Gateway,
  port: number,
): Promise<{ readonly url: string }> {
  try {
    return await gateway.listen();
  } catch (error) {
    if (!isCodedError(error) || error.code !== "HTTP_ADDRESS_IN_USE") throw error;
    throw new CodedError(error.code, error.message, { hint: addressHint(options.home, port), cause: error });
  }
}

function addressHint(home: string, port: number): string {
  const running = findRunningGateways(home).find(({ url }) => Number(new URL(url).port) === port);
  return running !== undefined
    ? `the gateway of this home uses it (process ${running.pid}, since ${running.startedAt}): use that gateway, stop it with kill ${running.pid}, or use another address: toolcrib serve --listen 127.0.0.1:0`
    : "stop the program that uses it, or use another address: toolcrib serve --listen 127.0.0.1:0";
}
