/** Takes over the listening server that a child sends over its IPC channel. */

import type { ChildProcess } from "node:child_process";
import { Server } from "node:net";

/** Receives the listener. */
export type TakeListener = (listener: Server) => void;

/** Takes the listener of the first message of `child`, and closes the channel: the program after it has none. */
export function takeListenerOf(child: ChildProcess, takeListener: TakeListener): void {
  child.once("message", (_message: unknown, handle: unknown) => {
    child.disconnect();
    if (handle instanceof Server) takeListener(handle);
  });
}
