/**
 * The profile of Seatbelt, the sandbox of macOS, for one program, in the language that
 * `sandbox-exec` reads. Everything is denied that no rule allows; of two rules that
 * match, the later one decides. Pure: every path must be absolute and without symbolic
 * links, because Seatbelt compares real paths.
 */

import { dirname } from "node:path";
import { isWithin, outermost } from "./paths.ts";
import { SandboxError } from "./sandbox-error.ts";

/** The boundary of one program, in real paths. */
export interface SeatbeltPlan {
  readonly network: "allow" | "deny";
  /** Folders and files that it may read. */
  readonly readable: readonly string[];
  /** Folders that it may also write, its home and its folder for temporary files among them. */
  readonly writable: readonly string[];
  /** Paths that stay invisible, whatever contains them. */
  readonly hidden: readonly string[];
  /** Paths that are visible although a hidden one contains them. */
  readonly own: readonly string[];
}

/** Programs, libraries and data of the system; nothing in them belongs to a user. */
const systemFolders = [
  "/usr",
  "/bin",
  "/sbin",
  "/System",
  "/Library/Apple",
  "/Library/Developer/CommandLineTools",
  "/Library/Frameworks",
  "/Library/Java",
  "/Library/Perl",
  "/Library/Preferences/Logging",
  "/Library/Ruby",
  "/private/etc/ssl",
  "/private/etc/localtime",
  "/private/etc/protocols",
  "/private/etc/services",
  "/private/var/db/dyld",
  "/private/var/db/timezone",
];

/** Another way to the files of users, and data of programs that users install. */
const hiddenSystemFolders = ["/System/Volumes/Data", "/usr/local/var"];

/** Devices that programs read and write. */
const devices = ["/dev/null", "/dev/zero", "/dev/dtracehelper"];
const randomDevices = ["/dev/random", "/dev/urandom"];

/** Rules that every program needs, and that reach nothing of others. */
const base = [
  "(version 1)",
  "(deny default)",
  "(allow process-exec)",
  "(allow process-fork)",
  "(allow process-info* (target same-sandbox))",
  "(allow signal (target same-sandbox))",
  "(allow sysctl-read)",
  "(allow ipc-posix-sem)",
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
];

/** Names, addresses and certificates of hosts. */
const network = [
  "(allow network*)",
  "(allow system-socket)",
  [
    "(allow mach-lookup",
    '(global-name "com.apple.SystemConfiguration.configd")',
    '(global-name "com.apple.SystemConfiguration.DNSConfiguration")',
    '(global-name "com.apple.dnssd.service")',
    '(global-name "com.apple.trustd.agent"))',
  ].join(" "),
  '(allow file-read* (literal "/private/etc/hosts") (literal "/private/etc/resolv.conf") (literal "/private/var/run/resolv.conf"))',
];

/** Returns the profile. @throws {SandboxError} `SANDBOX_PATH_REFUSED` for a path with a control character */
export function seatbeltProfile(plan: SeatbeltPlan): string {
  const writable = outermost(plan.writable);
  const readable = outermost([...systemFolders, ...plan.readable, ...writable]);
  const shown = [...readable, ...plan.own, ...devices, ...randomDevices];
  const lines = [
    ...base,
    // Programs look at each folder on the way to a file; the names in it stay invisible.
    rule("allow file-read-metadata", "literal", waysTo(shown)),
    '(allow file-read-data (literal "/"))',
    rule("allow file-read*", "subpath", readable),
    rule("allow file-read* file-write-data file-ioctl", "literal", devices),
    rule("allow file-read*", "literal", randomDevices),
    rule("allow file-write*", "subpath", writable),
    rule("deny file-read* file-write*", "subpath", [...hiddenSystemFolders, ...plan.hidden]),
    rule("allow file-read*", "subpath", plan.own),
    rule("allow file-read-metadata", "literal", waysTo(plan.own)),
    rule(
      "allow file-write*",
      "subpath",
      plan.own.filter((path) => writable.some((folder) => isWithin(path, folder))),
    ),
    ...(plan.network === "allow" ? network : []),
  ];
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
}

/** The folders above `paths`, each once. */
function waysTo(paths: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}

/** A rule for paths; empty without one. */
function rule(action: string, filter: "literal" | "subpath", paths: readonly string[]): string {
  const unique = [...new Set(paths)];
  return unique.length === 0
    ? ""
    : `(${action}\n${unique.map((path) => `  (${filter} ${quoted(path)})`).join("\n")})`;
}

function quoted(path: string): string {
  if (/[\u0000-\u001f\u007f]/.test(path)) {
    const message = `The path ${JSON.stringify(path)} contains a control character`;
    throw new SandboxError("SANDBOX_PATH_REFUSED", message, { hint: "rename it, or do not bind it" });
  }
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
