/** Finds out whether a control socket is that of a running gateway. */

import { lstatSync } from "node:fs";
import { connect } from "node:net";

/** Longest time for an open socket or port to accept a connection, in milliseconds. */
export const probeTimeoutMs = 2000;

/** Whether a program of this user listens on the socket at `path`: each gateway has a socket of its own, in a private folder. */
export function acceptsControl(path: string): Promise<boolean> {
  if (!isOwnSocket(path)) return Promise.resolve(false);
  return new Promise((answer) => {
    const socket = connect(path);
    const finish = (isAccepted: boolean) => {
      socket.destroy();
      answer(isAccepted);
    };
    socket.setTimeout(probeTimeoutMs, () => finish(false));
    socket.once("connect", () => finish(true));
    socket.once("error", () => finish(false));
  });
}

/** Another user can take the place of a socket in the folder for temporary files. Windows has pipes with unguessable names. */
function isOwnSocket(path: string): boolean {
  if (path.startsWith("\\\\")) return true;
  try {
    const { uid } = lstatSync(path);
    return isTrustedOwner(uid);
  } catch {
    return false;
  }
}

/** Whether `uid` is that of this user, or of root, who can change everything. Windows has no such ids. */
export function isTrustedOwner(uid: number): boolean {
  return uid === 0 || process.geteuid === undefined || uid === process.geteuid();
}
