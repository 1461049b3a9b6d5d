/**
 * Launches the stdio servers of one gateway and answers for their processes:
 * none of them, nor anything they start, outlives its server or the gateway.
 *
 * Every process is recognised by two markers in its environment, so nothing
 * else is ever signalled. What is launched comes from the operator's
 * configuration only; nothing here takes it from a call.
 */

import { join } from "node:path";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { type Env, toChildEnv } from "./child-env.ts";
import { type LaunchedProcess, type SpawnedChild, superviseProcess } from "./launched-process.ts";
import {
  type LauncherOptions,
  type ResolvedLauncherOptions,
  resolveLauncherOptions,
} from "./launcher-options.ts";
import { createLogFile, type LogFile } from "./log-file.ts";
import { ProcessError } from "./process-error.ts";
import type { ProcessExit } from "./process-exit.ts";
import {
  type ProcessEntry,
  processTableSource,
  readProcessTable,
  shareReads,
  startTicksOf,
} from "./process-table.ts";
import { createProcessTree, type ProcessTree } from "./process-tree.ts";
import { resolveCommand } from "./resolve-command.ts";
import { checkArguments, checkDirectory, spawnPiped } from "./spawn-piped.ts";
import { createStderrLog } from "./stderr-log.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";
import { createWindowsTree } from "./windows-tree.ts";

/** What the launcher is handed: the environment that servers inherit from, a clock, a log, randomness. */
export interface ProcessLauncherDeps {
  /** The gateway's own environment. Only PATH, HOME, LANG and TMPDIR (on Windows: what programs need there) are taken from it. */
  readonly env: Env;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Unpredictable bytes, as `randomBytes` of `node:crypto` gives them. The gateway's marker is made of them. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** What to launch. */
export interface LaunchSpec {
  /** A path (relative to `cwd`), or a name that is looked up in the server's PATH. Never given to a shell. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables beside PATH, HOME, LANG and TMPDIR, or in their place. */
  readonly env: Env;
  /** Working directory, absolute. @default `directory` of the launcher */
  readonly cwd?: string;
  /** What people call the server; its id. */
  readonly label: string;
  /** Takes secrets out of a line of standard error before it is kept, shown or written. @default lines stay as they are */
  readonly scrub?: (line: string) => string;
}

/** Launches servers until it is disposed, which ends them all. */
export interface ProcessLauncher extends AsyncDisposable {
  /** Value of `TOOLCRIB_INSTANCE` in every process of this gateway's servers: 32 hexadecimal digits. */
  readonly instance: string;
  /**
   * Launch a server; resolves when its program runs.
   *
   * @param signal gives up launching; a server that is launched is ended by `stop()`.
   * @throws {ProcessError} `PROCESS_LAUNCH_INVALID`, `PROCESS_COMMAND_NOT_FOUND`,
   *   `PROCESS_COMMAND_NOT_EXECUTABLE`, `PROCESS_DIRECTORY_INVALID`, `PROCESS_SPAWN_FAILED`,
   *   `PROCESS_LIMIT`, `PROCESS_WATCHDOG_FAILED` or `PROCESS_LAUNCHER_CLOSED`.
   */
  launch(spec: LaunchSpec, options: { readonly signal: AbortSignal }): Promise<LaunchedProcess>;
}

/** Prepare to launch servers. Nothing is started before the first launch. */
export function createProcessLauncher(
  deps: ProcessLauncherDeps,
  options: LauncherOptions = {},
): ProcessLauncher {
  return new Launcher(deps, resolveLauncherOptions(options));
}

class Launcher implements ProcessLauncher {
  readonly instance: string;
  readonly #deps: ProcessLauncherDeps;
  readonly #options: ResolvedLauncherOptions;
  readonly #readTable: () => Promise<readonly ProcessEntry[]>;
  readonly #watchdog: Watchdog | undefined;
  readonly #launching = new Set<Promise<unknown>>();
  readonly #running = new Set<LaunchedProcess>();
  readonly #logFiles = new Map<string, LogFile>();
  #launchCount = 0;
  /** Servers that run or are being launched. */
  #heldCount = 0;
  #closing: Promise<void> | undefined;

  constructor(deps: ProcessLauncherDeps, options: ResolvedLauncherOptions) {
    this.#deps = deps;
    this.#options = options;
    this.instance = Buffer.from(deps.randomBytes(16)).toString("hex");
    this.#readTable = shareReads(() => this.#readOwnTable());
    // When process 1 of a container ends, the kernel ends the container; Windows has no /bin/sh.
    const isWatched = process.platform !== "win32" && process.pid !== 1;
    this.#watchdog = isWatched
      ? createWatchdog(this.instance, deps.env["PATH"] ?? "", deps.logger)
      : undefined;
  }

  async launch(spec: LaunchSpec, { signal }: { readonly signal: AbortSignal }): Promise<LaunchedProcess> {
    signal.throwIfAborted();
    if (this.#closing !== undefined) throw closed(spec);
    if (this.#heldCount >= this.#options.processesMaxCount) {
      throw new ProcessError(
        "PROCESS_LIMIT",
        `Cannot launch server "${spec.label}": ${this.#options.processesMaxCount} servers run already`,
        { hint: "raise the limit of processes, or let servers be shared or stopped when idle" },
      );
    }
    const launching = this.#launch(spec, signal);
    this.#launching.add(launching);
    this.#heldCount += 1;
    try {
      const server = await launching;
      server.exited.then(() => {
        this.#heldCount -= 1;
      });
      return server;
    } catch (error) {
      this.#heldCount -= 1;
      throw error;
    } finally {
      this.#launching.delete(launching);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #launch(spec: LaunchSpec, signal: AbortSignal): Promise<LaunchedProcess> {
    checkArguments(spec.command, spec.args);
    const number = ++this.#launchCount;
    const marker = `${this.instance}/${number}`;
    const markers = { instance: this.instance, server: marker };
    const { platform } = process;
    const env = toChildEnv(this.#deps.env, spec.env, markers, platform);
    const directory = spec.cwd ?? this.#options.directory;
    await checkDirectory(spec.command, directory);
    const place = { directory, env, platform };
    const program = await resolveCommand(spec.command, place);
    await this.#watchdog?.ready();
    signal.throwIfAborted();
    if (this.#closing !== undefined) throw closed(spec);

    const request = { program, args: spec.args, env, directory };
    const { wrap } = this.#options;
    const { child, started } = spawnPiped(wrap === undefined ? request : wrap(request), spec.command);
    if (child.pid === undefined) {
      await started;
      throw closed(spec);
    }
    const server = this.#supervise(spec, child, child.pid, marker);
    await started;
    if (signal.aborted) {
      await server.stop(0);
      signal.throwIfAborted();
    }
    return server;
  }

  #supervise(spec: LaunchSpec, child: SpawnedChild, pid: number, marker: string): LaunchedProcess {
    const { logger, now } = this.#deps;
    const { label } = spec;
    const startTicks = startTicksOf(pid);
    this.#watchdog?.watch(pid, startTicks === undefined ? "-" : String(startTicks));
    const sink = createStderrLog({ ...this.#options, scrub: spec.scrub });
    const file = this.#logFileOf(label);
    if (file !== undefined) {
      sink.log.onLine((line) => file.append(`${new Date(now()).toISOString()} ${pid} ${line}`));
    }
    const tree: ProcessTree =
      process.platform === "win32"
        ? createWindowsTree(pid)
        : createProcessTree(this.#readTable, {
            isMarked: (entry) => entry.server === marker,
            leader: {
              pid,
              startedAt: startTicks === undefined ? undefined : String(startTicks),
              isOurs: () => child.exitCode === null && child.signalCode === null,
            },
          });
    const onGone = async (exit: ProcessExit): Promise<void> => {
      this.#watchdog?.forget(pid);
      this.#running.delete(server);
      const fields = { label, pid, ...exit };
      if (exit.leftover.length > 0) logger.error(fields, "upstream.process.leftover");
      else if (exit.wasStopped) logger.info(fields, "upstream.process.stopped");
      else logger.warn(fields, "upstream.process.exited");
    };
    const server = superviseProcess(child, { tree, sink, now, onGone }, this.#options);
    this.#running.add(server);
    logger.info({ label, pid, marker }, "upstream.process.launched");
    return server;
  }

  /** One file per label, shared by all processes of that server, so that rotation has one hand. */
  #logFileOf(label: string): LogFile | undefined {
    if (this.#options.logsDirectory === undefined) return undefined;
    const path = join(this.#options.logsDirectory, `${toFileName(label)}.log`);
    let file = this.#logFiles.get(path);
    if (file === undefined) {
      const onFailure = (error: unknown): void =>
        this.#deps.logger.warn({ label, path, err: error }, "upstream.log-file.failed");
      file = createLogFile(path, { maxBytes: this.#options.logFileMaxBytes, onFailure });
      this.#logFiles.set(path, file);
    }
    return file;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#launching);
    await Promise.all([...this.#running].map((server) => server.stop()));
    const leftover = this.#launchCount === 0 ? [] : await this.#reapInstance();
    const isAllGone = this.#running.size === 0 && leftover.length === 0;
    if (!isAllGone)
      this.#deps.logger.error({ leftover, running: this.#running.size }, "upstream.launcher.leftover");
    await this.#watchdog?.close(isAllGone);
    await Promise.all([...this.#logFiles.values()].map((file) => file[Symbol.asyncDispose]()));
  }

  /** A last look for anything of any launch. */
  async #reapInstance(): Promise<readonly number[]> {
    if (process.platform === "win32") return [];
    const tree = createProcessTree(this.#readTable, {
      isMarked: (entry) => entry.instance === this.instance,
    });
    return (await tree.reap(this.#options.orphanGraceMs)).leftover;
  }

  async #readOwnTable(): Promise<readonly ProcessEntry[]> {
    try {
      return await readProcessTable(processTableSource(), startTicksOf(process.pid));
    } catch (error) {
      // Without a table a server that runs is still ended with its group; what it leaves behind is not found.
      this.#deps.logger.error({ reason: messageOf(error), err: error }, "upstream.process-table.failed");
      return [];
    }
  }
}

function closed(spec: LaunchSpec): ProcessError {
  return new ProcessError(
    "PROCESS_LAUNCHER_CLOSED",
    `Cannot launch server "${spec.label}": the gateway is closing`,
  );
}

/** Different labels give different names, and none that means something to a file system. */
function toFileName(label: string): string {
  const encoded = label.replace(/[^A-Za-z0-9_.-]|^\./gu, (character) =>
    Buffer.from(character).toString("hex").toUpperCase().replace(/../g, "%$&"),
  );
  return encoded.slice(0, 200);
}
