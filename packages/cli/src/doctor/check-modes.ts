/**
 * Checks who can use the home: its mode and owner, and those of the folders and files in it that
 * must be private. The repair of `--fix` closes them to other users; it never changes an owner and
 * follows no link.
 */

import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
} from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { counted } from "../output/counted.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { type Finding, failed, ok, type Repair } from "./check.ts";

/** Folders of the home whose files others must neither read nor change. */
const privateFolders = [
  "tokens",
  "secrets",
  "secrets/.store",
  "run",
  "connections",
  "approvals",
  "audit",
  "sessions",
  "pins",
];
/** Files of the home with keys. */
const privateFiles = ["audit-key.pem", "audit-fingerprints.key", "sessions.key"];
/** Most entries of one folder that are looked at. */
const entriesMaxCount = 10_000;

/** Returns findings about owners and modes below an existing home. */
export function checkModes({ options, platform }: CliContext): Finding[] {
  const { home } = options;
  if (platform === "win32" || statOf(home)?.isDirectory() !== true) return [];
  const paths = listPrivate(home);
  const { uid } = userInfo();
  const foreign = paths.filter(({ status }) => status.uid !== uid);
  const open = paths.filter(({ status }) => status.uid === uid && (status.mode & 0o077) !== 0);
  const findings: Finding[] = [];
  const [other] = foreign;
  if (other !== undefined) {
    const message = `${counted(foreign.length, "path")} of the home belonging to another user, the first is ${other.path}`;
    findings.push(failed("home files", message, `sudo chown -R ${userInfo().username} ${shellQuote(home)}`));
  }
  const [first] = open;
  if (first !== undefined) {
    const message = `other users can access ${counted(open.length, "path")} of the home, the first is ${first.path}`;
    findings.push(failed("home files", message, `chmod -R go= ${shellQuote(home)}`, closing(open)));
  }
  return findings.length > 0
    ? findings
    : [ok("home files", `${counted(paths.length, "path")} private to this user`)];
}

/** Returns the repair of a home that others can use. */
export function closingHome(home: string): Repair {
  return { does: `set the mode of ${home} to 700`, run: () => chmodSync(home, 0o700) };
}

function closing(open: readonly { readonly path: string; readonly status: Stats }[]): Repair {
  return {
    does: `close ${counted(open.length, "path")} of the home to other users`,
    run() {
      for (const { path, status } of open) {
        close(path, status);
      }
    },
  };
}

/** Closes what was found, and nothing that took its place since, such as a link. */
function close(path: string, { dev, ino, mode }: Stats): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const now = fstatSync(descriptor);
    if (now.dev === dev && now.ino === ino) fchmodSync(descriptor, mode & 0o700);
  } finally {
    closeSync(descriptor);
  }
}

function listPrivate(home: string): { readonly path: string; readonly status: Stats }[] {
  const found: { path: string; status: Stats }[] = [];
  const add = (path: string): Stats | undefined => {
    const status = statOf(path);
    if (status !== undefined && (status.isDirectory() || status.isFile())) found.push({ path, status });
    return status;
  };
  for (const name of privateFiles) add(join(home, name));
  for (const name of privateFolders) {
    const folder = join(home, name);
    // The folder around it can be a link out of the home.
    if (statOf(dirname(folder))?.isDirectory() !== true && dirname(folder) !== home) continue;
    if (add(folder)?.isDirectory() !== true) continue;
    for (const entry of namesIn(folder).slice(0, entriesMaxCount)) add(join(folder, entry));
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The check of the owner reports a folder that cannot be read.
    return [];
  }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
