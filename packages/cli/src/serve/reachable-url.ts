/** The address at which programs of this machine reach a gateway that listens on all addresses. Pure. */

/** Returns `url` with an address that can be connected to in place of one that only means "all". */
export function reachableUrl(url: string): string {
  return url
    .replace(/^(https?:\/\/)0\.0\.0\.0(?=[:/]|$)/, "$1127.0.0.1")
    .replace(/^(https?:\/\/)\[::\](?=[:/]|$)/, "$1[::1]");
}
