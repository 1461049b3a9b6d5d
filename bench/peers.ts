/** The npm gateways to compare with, below bench/: they are no dependency of Toolcrib. */

import { installPinned } from "../scripts/pinned-packages.ts";
import { peerVersions } from "./contenders.ts";

/** Installs missing peers. Without them (offline, for example) the run continues and reports it. */
export function installPeers(progress: (line: string) => void): void {
  if (!installPinned(import.meta.dirname, peerVersions(), "bench/", progress))
    progress("npm ci failed: the peers that are missing are reported as not started");
}
