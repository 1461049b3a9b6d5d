/** Reads the files of a fetched package: their number, size and digest, and that no link leads out of its folder. */

import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { RunnersError } from "./runners-error.ts";

/** Limits of one package with its dependencies. */
export const treeLimits = { files: 150_000, bytes: 2 * 1024 ** 3 } as const;

/** The contents of a folder. */
export interface FileTree {
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
}

/** Interpreters of the system that a virtual environment links to. */
const outsidePrefixes = ["/usr/", "/bin/", "/opt/", "/nix/store/"];

/**
 * Reads every file below `folder`.
 *
 * @param links folders outside that links may lead to, such as the Python installation of a virtual environment
 * @throws {RunnersError} `PACKAGE_TOO_LARGE`, or `PACKAGE_CHANGED` for a link that leads elsewhere
 */
export async function readFileTree(folder: string, links: readonly string[] = []): Promise<FileTree> {
  const hash = createHash("sha256");
  let files = 0;
  let bytes = 0;
  const visit = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    entries.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const entry of entries) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      files += 1;
      if (files > treeLimits.files) throw tooLarge(`more than ${treeLimits.files} files`);
      if (entry.isDirectory()) {
        hash.update(`d ${path}\0`);
        await visit(path);
      } else if (entry.isSymbolicLink()) {
        await checkLink(folder, path, links);
        hash.update(`l ${path}\0${await readlink(join(folder, path))}\0`);
      } else if (entry.isFile()) {
        const { size, mode } = await lstat(join(folder, path));
        bytes += size;
        if (bytes > treeLimits.bytes) throw tooLarge(`more than ${treeLimits.bytes} bytes`);
        hash.update(`f ${path}\0${mode & 0o111}\0${size}\0`);
        hash.update(await readFile(join(folder, path)));
      } else {
        throw new RunnersError("PACKAGE_CHANGED", `The package contains "${path}", which is not a file`);
      }
    }
  };
  await visit("");
  return { digest: hash.digest("hex"), files, bytes };
}

async function checkLink(folder: string, path: string, links: readonly string[]): Promise<void> {
  const root = await realpath(folder);
  const target = await realpath(join(folder, path)).catch(() => undefined);
  // A link to nothing leads nowhere.
  if (target === undefined || target === root || target.startsWith(`${root}/`)) return;
  const allowed = [...links.map((one) => `${one}/`), ...outsidePrefixes];
  if (allowed.some((prefix) => target.startsWith(prefix))) return;
  throw new RunnersError("PACKAGE_CHANGED", `The package contains the link "${path}", which leads out of it`);
}

function tooLarge(what: string): RunnersError {
  return new RunnersError("PACKAGE_TOO_LARGE", `The package and its dependencies have ${what}`, {
    hint: "install it yourself, and give the path of its program as command",
  });
}
