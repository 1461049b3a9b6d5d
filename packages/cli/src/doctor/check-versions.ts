/** Checks that running gateways have the version of this command, and what an address that others reach means. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isLoopbackHost } from "@toolcrib/config";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { safeLine } from "../output/output.ts";
import { version } from "../version.ts";
import { type Finding, ok, warning } from "./check.ts";

/** Returns a finding for each running gateway of the home. */
export function checkVersions({ options }: CliContext): Finding[] {
  return findRunningGateways(options.home).map((gateway) =>
    gateway.version === version
      ? ok("version", `process ${gateway.pid} runs ${version}, as this command`)
      : warning(
          "version",
          `process ${gateway.pid} runs ${safeLine(gateway.version)}, and this command is ${version}`,
          `restart the gateway: kill ${gateway.pid}, and start it again`,
        ),
  );
}

/** Returns a warning where other machines can reach the address without TLS. */
export function checkExposure(host: string): Finding[] {
  if (isLoopbackHost(host)) return [];
  const message = `other machines can reach ${safeLine(host)}, and tokens cross the network unencrypted`;
  return [warning("address", message, "listen on 127.0.0.1, and let a proxy with TLS pass requests on")];
}

/** Returns the process of this user that listens on a port, where the system shows it. */
export function ownerOfPort(port: number): string | undefined {
  try {
    const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
    const inodes = new Set(
      ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) =>
        readFileSync(path, "utf8")
          .split("\n")
          .map((line) => line.trim().split(/\s+/))
          .filter(([, local = "", , state]) => local.endsWith(wanted) && state === "0A")
          .map((fields) => `socket:[${fields[9] ?? ""}]`),
      ),
    );
    const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && hasSocket(name, inodes));
    if (pid === undefined) return undefined;
    return `${safeLine(readFileSync(`/proc/${pid}/comm`, "utf8"))} (process ${pid})`;
  } catch {
    // Other systems have no /proc.
    return undefined;
  }
}

function hasSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return inodes.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
      } catch {
        // It was closed meanwhile.
        return false;
      }
    });
  } catch {
    // It belongs to another user.
    return false;
  }
}
