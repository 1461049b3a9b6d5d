/**
 * Finds what killed processes left in the home: run files of gateways that ended, control sockets
 * that nobody listens on, and drafts of files. Each has a repair, which removes exactly what was
 * found if it is still unused.
 */

import { lstatSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { errnoOf, removeDrafts } from "@toolcrib/files";
import { removeRunFile, staleRunPids } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { counted } from "../output/counted.ts";
import { type Finding, ok, warning } from "./check.ts";

/** Age in milliseconds after which a draft or socket is abandoned. */
const lifeMs = 60_000;
/** Milliseconds that a socket has to accept a connection. */
const probeMs = 1000;
/** Most folders that are searched for drafts, to a depth of two. */
const foldersMaxCount = 1000;

/** Returns a finding for each kind of leftover; one that says that there are none. */
export async function checkLeftovers({ options, now }: CliContext): Promise<Finding[]> {
  const { home } = options;
  const findings: Finding[] = [];
  const pids = staleRunPids(home);
  if (pids.length > 0) {
    findings.push(
      warning(
        "leftovers",
        `run files of ${counted(pids.length, "gateway")} that ended: process ${pids.join(", ")}`,
        undefined,
        {
          does: `remove run files of ended gateways (process ${pids.join(", ")})`,
          run() {
            for (const pid of staleRunPids(home)) removeRunFile(home, pid);
          },
        },
      ),
    );
  }
  const sockets = await listDeadSockets(join(home, "run"), now());
  if (sockets.length > 0) {
    findings.push(
      warning(
        "leftovers",
        `${counted(sockets.length, "control socket")} that nobody listens on: ${sockets.join(", ")}`,
        undefined,
        {
          does: `remove ${sockets.join(", ")}`,
          async run() {
            // A gateway can have started in the meantime.
            for (const path of await listDeadSockets(join(home, "run"), now()))
              if (sockets.includes(path)) rmSync(path, { force: true });
          },
        },
      ),
    );
  }
  const folders = foldersWithDrafts(home, now());
  if (folders.length > 0) {
    findings.push(
      warning("leftovers", `unfinished files of killed processes in ${folders.join(", ")}`, undefined, {
        does: `remove unfinished files (.….draft) in ${folders.join(", ")}`,
        async run() {
          for (const folder of folders) await removeDrafts(folder, { writtenBeforeMs: now() - lifeMs });
        },
      }),
    );
  }
  return findings.length > 0 ? findings : [ok("leftovers", "none of killed processes")];
}

async function listDeadSockets(folder: string, nowMs: number): Promise<string[]> {
  const dead: string[] = [];
  // A link leads to sockets of other programs.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  for (const { path, status } of entriesIn(folder)) {
    if (status.isSocket() && nowMs - status.mtimeMs > lifeMs && !(await isListening(path))) dead.push(path);
  }
  return dead;
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    // A socket that does not answer in time may belong to a busy gateway.
    socket.setTimeout(probeMs, () => end(true));
    socket.once("connect", () => end(true));
    // All other errors leave it open: a full queue, a missing permission, a socket for datagrams.
    socket.once("error", (error) => end(errnoOf(error) !== "ECONNREFUSED"));
  });
}

/** Returns the folders of the home, to a depth of two, that have abandoned drafts. */
function foldersWithDrafts(home: string, nowMs: number): string[] {
  const isFolder = ({ status }: { status: { isDirectory(): boolean } }) => status.isDirectory();
  const first = entriesIn(home).filter(isFolder);
  const second = first.flatMap(({ path }) => entriesIn(path).filter(isFolder));
  return [home, ...[...first, ...second].map(({ path }) => path)]
    .slice(0, foldersMaxCount)
    .filter((folder) =>
      entriesIn(folder).some(
        ({ path, status }) =>
          status.isFile() && /\/\.[0-9a-f]{32}\.draft$/.test(path) && nowMs - status.mtimeMs > lifeMs,
      ),
    );
}

function entriesIn(folder: string) {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // It does not exist, or another check reports it.
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    return status === undefined ? [] : [{ path, status }];
  });
}
