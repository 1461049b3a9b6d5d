/**
 * The process as a command sees it: arguments, environment, folders, streams and
 * the clock. Nothing else in this package reads `process`, except `bin.ts`, `start.ts`
 * and the signal handling of `serve`.
 */

import { isAbsolute } from "node:path";
import type { Readable } from "node:stream";
import type { WriteStream } from "node:tty";
import type { SpawnWrap } from "@toolcrib/process";
import { ownHomeDirectory } from "./compile-cache.ts";

/** An output stream that may be a terminal. */
export type OutputStream = NodeJS.WritableStream & Partial<Pick<WriteStream, "isTTY" | "columns" | "rows">>;

/** Handles a signal that this process received. */
export type SignalListener = (signal: NodeJS.Signals) => void;

/** The process of one run of the command. */
export interface ProcessContext {
  /** Arguments after the command's name. */
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  /** Working directory. */
  readonly directory: string;
  /** The user's home directory (not Toolcrib's). */
  readonly userDirectory: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Aborts at the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Sends signals to `listener` instead of handling them, until disposed. For commands that forward signals. */
  readonly interceptSignals: (listener: SignalListener) => Disposable;
  /** Wraps each program that a command starts in a sandbox. @default programs are started as they are */
  readonly wrap?: SpawnWrap;
  /** Aborts when the reader of the output is gone (`toolcrib audit tail --follow | head`). */
  readonly outputClosed: AbortSignal;
}

/**
 * Returns an environment whose `HOME` is absolute, if it has one: what is hidden from servers, such as the keys of the
 * user, is below it, and never below the current folder.
 */
function withHome(env: NodeJS.ProcessEnv): ProcessContext["env"] {
  const { HOME } = env;
  return HOME === undefined || isAbsolute(HOME) ? env : { ...env, HOME: ownHomeDirectory() };
}

/** Creates the context of this process. */
export function createProcessContext(
  signals: Pick<ProcessContext, "signal" | "interceptSignals">,
  outputClosed: AbortSignal,
): ProcessContext {
  return {
    args: process.argv.slice(2),
    env: withHome(process.env),
    directory: process.cwd(),
    userDirectory: ownHomeDirectory(),
    platform: process.platform,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    now: Date.now,
    ...signals,
    outputClosed,
  };
}
