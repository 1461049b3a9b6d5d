/** Reasons for which namespaces do not work on a machine, guessed from the settings of its kernel. */

import { readFileSync } from "node:fs";

/** Returns what to do where a sandbox of namespaces fails. */
export function likelyFix(): string {
  return (
    settingFix() ??
    "a container runtime may forbid namespaces: run Toolcrib outside of it, or allow them there (docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined)"
  );
}

/** Returns how to change the setting that turns user namespaces off; undefined where none does. */
export function settingFix(): string | undefined {
  if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1") {
    return "AppArmor restricts user namespaces (Ubuntu): allow them to bwrap by an AppArmor profile (package apparmor-profiles), or set kernel.apparmor_restrict_unprivileged_userns=0";
  }
  if (setting("/proc/sys/kernel/unprivileged_userns_clone") === "0") {
    return "user namespaces are off: set kernel.unprivileged_userns_clone=1";
  }
  if (setting("/proc/sys/user/max_user_namespaces") === "0") {
    return "user namespaces are off: set user.max_user_namespaces to 1000 or more";
  }
  return undefined;
}

function setting(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // The kernel does not have this setting.
    return "";
  }
}
