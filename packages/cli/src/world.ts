/**
 * What the command takes from its process, in one place: arguments,
 * environment, folders, streams, clock. Nothing else in this package reads
 * `process`, except `bin.ts` and the signals of `serve`.
 */

import { homedir } from "node:os";
import type { Readable } from "node:stream";
import type { WriteStream } from "node:tty";

/** An output stream that may be a terminal. */
export type OutputStream = NodeJS.WritableStream & Partial<Pick<WriteStream, "isTTY" | "columns">>;

/** Told of a signal that this process got. */
export type SignalListener = (signal: NodeJS.Signals) => void;

/** The surroundings of one run of the command. */
export interface World {
  /** What stands behind the command's name. */
  readonly args: readonly string[];
  readonly environment: { readonly [name: string]: string | undefined };
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
  readonly interrupted: AbortSignal;
  /** Hand signals to `listener`, in place of what they do otherwise, until disposed of: for who passes them on. */
  readonly holdSignals: (listener: SignalListener) => Disposable;
  /** Aborts when nobody reads the output any more (`toolcrib audit tail --follow | head`). */
  readonly outputClosed: AbortSignal;
}

/** The surroundings of this process. */
export function createWorld(
  signals: Pick<World, "interrupted" | "holdSignals">,
  outputClosed: AbortSignal,
): World {
  return {
    args: process.argv.slice(2),
    environment: process.env,
    directory: process.cwd(),
    userDirectory: homedir(),
    platform: process.platform,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    now: Date.now,
    ...signals,
    outputClosed,
  };
}
