/** Dependencies and options of the engine that keeps saved tools as files. Types only. */

import type { MetatoolError } from "../metatool-error.ts";
import type { SavedFiles } from "./saved-files.ts";
import type { SavedToolLimits } from "./saved-tool.ts";

/** Dependencies of the store. */
export interface SavedToolStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /**
   * Returns whether a name belongs to a tool that is not a saved tool. Called only for
   * new names: tools of other origins must not make saved tools unusable.
   * @default no name is reserved
   */
  readonly isReserved?: (name: string) => boolean;
  /** @default Node's file system */
  readonly files?: SavedFiles;
  /** Called with failures that no caller waits for. For the log. @default no call */
  readonly onProblem?: (problem: MetatoolError) => void;
}

/** Location and behaviour of the store. */
export interface SavedToolStoreOptions extends SavedToolLimits {
  /** Path of the directory; created with mode 0700 when it is missing. */
  readonly directory: string;
  /** Milliseconds after which counted executions are written; the first after such a time without any, at once. @default 5000 */
  readonly flushMs?: number;
  /** Number of counted executions that are written at once. @default 100 */
  readonly flushCount?: number;
  /** Milliseconds for which a scan is fresh, when the directory can be watched. @default 1000 */
  readonly freshMs?: number;
  /** Milliseconds between a file system event and the scan; an editor causes several events. @default 50 */
  readonly settleMs?: number;
  /** Longest wait for another process that writes, in milliseconds. @default 10,000 */
  readonly lockTimeoutMs?: number;
}
