/** The PATH of this terminal, for programs that something else starts later: a service, or a client with windows. Pure. */

import { delimiter } from "node:path";

/**
 * Returns the PATH without the folders that npm adds for one run, and with those of the system.
 *
 * @param env the environment of this command
 */
export function lastingPath(env: { readonly [name: string]: string | undefined }): string {
  const isByNpm = env["npm_command"] !== undefined || env["npm_lifecycle_event"] !== undefined;
  const folders = (env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
    .split(delimiter)
    .filter((folder) => folder.startsWith("/") && !(isByNpm && /\/node_modules\/\.bin\/?$/.test(folder)));
  return [...new Set([...folders, "/usr/bin", "/bin"])].join(delimiter);
}
