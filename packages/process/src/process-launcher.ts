/**
 * Launches the stdio servers of one gateway and guarantees the end of their
 * processes: no server, and nothing that a server starts, outlives the server or
 * the gateway.
 *
 * Two markers in its environment and one in its resource limits identify every
 * process, so that no other process is ever signalled. The command of a launch comes only from the
 * caller's configuration, never from a request.
 */

import { isAbsolute, join } from "node:path";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { disposeOnce } from "@toolcrib/lifecycle";
import { type Env, toChildEnv } from "./child-env.ts";
import { LaunchedProcess, type SpawnedChild } from "./launched-process.ts";
import {
  type LauncherOptions,
  type ResolvedLauncherOptions,
  resolveLauncherOptions,
} from "./launcher-options.ts";
import { LimitMarker, startsCertainly } from "./limit-marker.ts";
import { LogFile } from "./log-file.ts";
import { ProcessError } from "./process-error.ts";
import type { ProcessExit } from "./process-exit.ts";
import {
  type ProcessEntry,
  processTableSource,
  readProcessTable,
  SharedRead,
  startTicksOf,
} from "./process-table.ts";
import { PosixProcessTree, type ProcessTree } from "./process-tree.ts";
import { resolveCommand } from "./resolve-command.ts";
import type { SpawnRequest } from "./spawn-child.ts";
import { checkArguments, checkDirectory, checkInterpreter, spawnPiped } from "./spawn-piped.ts";
import { StderrSink } from "./stderr-log.ts";
import type { TakeListener } from "./take-listener.ts";
import { Watchdog } from "./watchdog.ts";
import { createWindowsTree } from "./windows-tree.ts";

/** Dependencies of the launcher. */
export interface ProcessLauncherDeps {
  /** The environment of the gateway. A launch inherits only PATH, HOME, LANG and TMPDIR (on Windows: what programs need to run). */
  readonly env: Env;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Returns unpredictable bytes, as `randomBytes` of `node:crypto` does. The marker of the gateway is made of them. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** The program to launch. */
export interface LaunchSpec {
  /** A path (relative to `cwd`), or a name that is looked up in the PATH of the process. Never passed to a shell. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to PATH, HOME, LANG and TMPDIR, or in their place. */
  readonly env: Env;
  /** Working directory, absolute. @default `directory` of the launcher */
  readonly cwd?: string;
  /** The name of the server for people; its id. */
  readonly label: string;
  /**
   * Contains the process: returns the request that starts it in a sandbox. Called with the resolved program, before
   * the last check of the launch. What it returns is disposed of when the process is gone, or when the launch fails.
   *
   * @default the process is started as it is
   */
  readonly contain?:
    | ((request: SpawnRequest, options: { readonly signal: AbortSignal }) => Promise<ContainedRequest>)
    | undefined;
  /** Whether the program ends by itself, so that an end with code 0 is no warning. @default it runs until it is stopped */
  readonly isTask?: boolean;
  /** Removes secrets from a line of standard error before it is kept, shown or written. @default lines stay as they are */
  readonly scrub?: (line: string) => string;
}

/** A request that starts a program in a sandbox, and what the sandbox holds. */
export interface ContainedRequest extends AsyncDisposable {
  readonly request: SpawnRequest;
  /**
   * Takes each listener that the sandbox hands over before its program starts. With it, the first process gets an IPC
   * channel, which closes after the last one. @default there is no channel
   */
  readonly takeListener?: TakeListener;
}

/** Prepares to launch processes. Nothing is started before the first launch. */
export function createProcessLauncher(
  deps: ProcessLauncherDeps,
  options: LauncherOptions = {},
): ProcessLauncher {
  return new ProcessLauncher(deps, resolveLauncherOptions(options));
}

/** Launches processes until it is disposed, which ends all of them. */
export class ProcessLauncher implements AsyncDisposable {
  /** Value of `TOOLCRIB_INSTANCE` in every process of this launcher: 32 hexadecimal digits. */
  readonly instance: string;
  readonly #deps: ProcessLauncherDeps;
  readonly #options: ResolvedLauncherOptions;
  readonly #table = new SharedRead(() => this.#readTable());
  readonly #limitMarker: LimitMarker | undefined;
  readonly #watchdog: Watchdog | undefined;
  readonly #launching = new Set<Promise<unknown>>();
  readonly #running = new Set<LaunchedProcess>();
  /** The resources of the sandboxes of launches, until they are removed. */
  readonly #releasing = new Set<Promise<unknown>>();
  readonly #logFiles = new Map<string, LogFile>();
  #launchCount = 0;
  /** Processes that run or are being launched. */
  #heldCount = 0;
  #isClosing = false;
  readonly #dispose = disposeOnce(() => this.#close());

  constructor(deps: ProcessLauncherDeps, options: ResolvedLauncherOptions) {
    this.#deps = deps;
    this.#options = options;
    this.instance = Buffer.from(deps.randomBytes(16)).toString("hex");
    // When process 1 of a container ends, the kernel ends the container; Windows has no /bin/sh.
    const isWatched = process.platform !== "win32" && process.pid !== 1;
    this.#limitMarker = LimitMarker.create(deps.randomBytes);
    const watched = { instance: this.instance, limitMarker: this.#limitMarker };
    this.#watchdog = isWatched ? new Watchdog(watched, deps.env["PATH"] ?? "", deps) : undefined;
  }

  /**
   * Launches a process; resolves when its program runs.
   *
   * @param options `signal` cancels the launch. A process that runs is ended by `stop()`.
   * @throws {ProcessError} `PROCESS_LAUNCH_INVALID`, `PROCESS_COMMAND_NOT_FOUND`,
   *   `PROCESS_COMMAND_NOT_EXECUTABLE`, `PROCESS_DIRECTORY_INVALID`, `PROCESS_SPAWN_FAILED`,
   *   `PROCESS_LIMIT`, `PROCESS_WATCHDOG_FAILED` or `PROCESS_LAUNCHER_CLOSED`.
   */
  async launch(spec: LaunchSpec, { signal }: { readonly signal: AbortSignal }): Promise<LaunchedProcess> {
    signal.throwIfAborted();
    if (this.#isClosing) throw closed(spec);
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
      const launched = await launching;
      launched.exited.then(() => {
        this.#heldCount -= 1;
      });
      return launched;
    } catch (error) {
      this.#heldCount -= 1;
      throw error;
    } finally {
      this.#launching.delete(launching);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  async #launch(spec: LaunchSpec, signal: AbortSignal): Promise<LaunchedProcess> {
    checkArguments(spec.command, spec.args);
    const number = ++this.#launchCount;
    const resolved = await this.#toRequest(spec, this.#markerOf(number));
    const { wrap } = this.#options;
    if (spec.contain !== undefined) await checkInterpreter(resolved, spec.command);
    await using resources = new AsyncDisposableStack();
    const contained = await spec.contain?.(resolved, { signal });
    if (contained !== undefined) resources.use(contained);
    const request = contained?.request ?? resolved;
    // A sandbox has prepared its own program.
    const isContained = wrap !== undefined || contained !== undefined;
    const isMarkable = isContained || (await startsCertainly(request.program));
    await this.#watchdog?.ready();
    signal.throwIfAborted();
    if (this.#isClosing) throw closed(spec);

    const wrapped = wrap === undefined ? request : wrap(request);
    const limitMarker = isMarkable && isAbsolute(wrapped.program) ? this.#limitMarker : undefined;
    const { child, started } = spawnPiped(limitMarker?.mark(wrapped, number) ?? wrapped, {
      command: spec.command,
      takeListener: contained?.takeListener,
    });
    if (child.pid === undefined) {
      await started;
      throw closed(spec);
    }
    const launched = this.#supervise(spec, child, child.pid, number);
    const held = resources.move();
    const releasing = launched.exited.finally(() => held.disposeAsync()).catch(() => {});
    this.#releasing.add(releasing);
    releasing.then(() => this.#releasing.delete(releasing));
    await started;
    if (signal.aborted) {
      await launched.stop(0);
      signal.throwIfAborted();
    }
    return launched;
  }

  /** Checks a launch, and completes it with the path of the program and the environment. */
  async #toRequest(spec: LaunchSpec, marker: string): Promise<SpawnRequest> {
    const { platform } = process;
    const markers = { instance: this.instance, server: marker };
    const env = toChildEnv(this.#deps.env, spec.env, markers, platform);
    const directory = spec.cwd ?? this.#options.directory;
    await checkDirectory(spec.command, directory);
    const program = await resolveCommand(spec.command, { directory, env, platform });
    return { program, args: spec.args, env, directory };
  }

  /** Returns the value of `TOOLCRIB_SERVER` for a launch. */
  #markerOf(number: number): string {
    return `${this.instance}/${number}`;
  }

  #supervise(spec: LaunchSpec, child: SpawnedChild, pid: number, number: number): LaunchedProcess {
    const { logger, now } = this.#deps;
    const { label, scrub, isTask = false } = spec;
    const startTicks = startTicksOf(pid);
    const startedAt = startTicks === undefined ? undefined : String(startTicks);
    this.#watchdog?.watch(pid, startedAt ?? "-");
    const sink = new StderrSink({ ...this.#options, scrub });
    const file = this.#logFileOf(label);
    if (file !== undefined) {
      sink.onLine((line) => file.append(`${new Date(now()).toISOString()} ${pid} ${line}`));
    }
    const tree = this.#createTree(child, pid, startedAt, number);
    const onGone = async (exit: ProcessExit): Promise<void> => {
      this.#watchdog?.forget(pid);
      this.#running.delete(launched);
      this.#logExit({ label, pid, isTask }, exit);
    };
    const launched = new LaunchedProcess(child, { tree, sink, now, onGone }, this.#options);
    this.#running.add(launched);
    const launchedFields = { label, pid, marker: this.#markerOf(number) };
    if (isTask) logger.debug(launchedFields, "task.process.launched");
    else logger.info(launchedFields, "upstream.process.launched");
    return launched;
  }

  #createTree(child: SpawnedChild, pid: number, startedAt: string | undefined, number: number): ProcessTree {
    if (process.platform === "win32") return createWindowsTree(pid);
    const marker = this.#markerOf(number);
    const limit = this.#limitMarker?.valueOf(number);
    return new PosixProcessTree(() => this.#table.get(), {
      isMarked: ({ server, realtimeLimit }) =>
        server === marker || (limit !== undefined && realtimeLimit === limit),
      leader: { pid, startedAt, isOurs: () => child.exitCode === null && child.signalCode === null },
    });
  }

  #logExit({ isTask, ...process }: { label: string; pid: number; isTask: boolean }, exit: ProcessExit): void {
    const { logger } = this.#deps;
    const fields = { ...process, ...exit };
    if (exit.leftover.length > 0) logger.error(fields, "upstream.process.leftover");
    else if (isTask) logger.debug(fields, "task.process.exited");
    else if (exit.wasStopped) logger.info(fields, "upstream.process.stopped");
    // Its owner warns about what it means, with this description.
    else logger.info(fields, "upstream.process.exited");
  }

  /** Returns the log file of `label`. All processes with the same label share it, so that only one of them rotates it. */
  #logFileOf(label: string): LogFile | undefined {
    if (this.#options.logsDirectory === undefined) return undefined;
    const path = join(this.#options.logsDirectory, `${toFileName(label)}.log`);
    let file = this.#logFiles.get(path);
    if (file === undefined) {
      const onFailure = (error: unknown): void =>
        this.#deps.logger.warn({ label, path, err: error }, "upstream.log-file.failed");
      file = new LogFile(path, { maxBytes: this.#options.logFileMaxBytes, onFailure });
      this.#logFiles.set(path, file);
    }
    return file;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#launching);
    await Promise.all([...this.#running].map((launched) => launched.stop()));
    const leftover = this.#launchCount === 0 ? [] : await this.#reapInstance();
    const isAllGone = this.#running.size === 0 && leftover.length === 0;
    if (!isAllGone) {
      this.#deps.logger.error({ leftover, running: this.#running.size }, "upstream.launcher.leftover");
    }
    // A process that cannot be ended holds its sandbox; nothing waits for it.
    if (isAllGone) await Promise.all(this.#releasing);
    await this.#watchdog?.close(isAllGone);
    await Promise.all([...this.#logFiles.values()].map((file) => file[Symbol.asyncDispose]()));
  }

  /** Ends the remaining processes of all launches. @returns the pids of those that do not end */
  async #reapInstance(): Promise<readonly number[]> {
    if (process.platform === "win32") return [];
    const tree = new PosixProcessTree(() => this.#table.get(), {
      isMarked: ({ instance, realtimeLimit }) =>
        instance === this.instance || this.#limitMarker?.includes(realtimeLimit) === true,
    });
    return (await tree.reap(this.#options.orphanGraceMs)).leftover;
  }

  async #readTable(): Promise<readonly ProcessEntry[]> {
    try {
      return await readProcessTable(processTableSource(), startTicksOf(process.pid));
    } catch (error) {
      // Without a table a running process still ends with its group; what it left behind is not found.
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

/** Returns a file name without characters that have a meaning to a file system; different labels get different names. */
function toFileName(label: string): string {
  const encoded = label.replace(/[^A-Za-z0-9_.-]|^\./gu, (character) =>
    Buffer.from(character).toString("hex").toUpperCase().replace(/../g, "%$&"),
  );
  return encoded.slice(0, 200);
}
