/**
 * Bundles the sources of the command for a checkout, as the published package has them: `npm ci` and `npm test` do,
 * because Node spends half of the time to start the command from its sources on hundreds of small modules. The launcher
 * uses the bundle while no source in it has changed.
 *
 *     node --conditions=toolcrib-source scripts/bundle-command.ts [--optional]
 *
 * Prints the path of its entry. With `--optional` it prints nothing but what went wrong, and ends with 0 in any case:
 * without a bundle, the command starts from its sources.
 */

import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules/.cache/toolcrib-command");

/**
 * Milliseconds after which the bundles of other sources are removed. A gateway that was started from one loads some of
 * its modules when they are needed: it must be started again within that time after the sources changed.
 */
const removedAfterMs = 7 * 24 * 60 * 60 * 1000;

if (process.argv.includes("--optional")) {
  await bundleCommand().catch((error: Error) => {
    console.error(`The command is not bundled, and starts from its sources: ${error.message}`);
  });
} else {
  console.log(await bundleCommand());
}

/**
 * Writes the bundle below `node_modules/.cache`, to a folder named after its content, so that Node's compile cache knows
 * it, and names it to the launcher.
 *
 * @returns the path of its entry
 */
async function bundleCommand(): Promise<string> {
  // An installation without the packages of the development has no bundler.
  const { bundleFolder } = await import("./release/bundle-folder.ts");
  const unfinished = join(cache, randomUUID());
  mkdirSync(unfinished, { recursive: true });
  try {
    const startedMs = Date.now();
    const { sources } = await bundleFolder({
      root,
      entries: { bin: "packages/cli/src/bin.ts" },
      startsGateways: true,
      format: "cjs",
      folder: unfinished,
      keepsPlaces: true,
    });
    const folder = join(cache, hashOf(unfinished));
    place(unfinished, folder);
    removeOld(folder);
    const entry = join(folder, "bin.js");
    nameToLauncher(entry, [join(root, "package-lock.json"), ...sources], startedMs);
    return entry;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function hashOf(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Renames the finished folder, unless an earlier run or another one has written the same, whose age begins anew. */
function place(unfinished: string, folder: string): void {
  try {
    if (existsSync(folder)) {
      utimesSync(folder, new Date(), new Date());
      return;
    }
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(current: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || path === current || !stats.isDirectory()) continue;
    if (Date.now() - stats.mtimeMs > removedAfterMs) rmSync(path, { recursive: true, force: true });
  }
}

/** Writes what the launcher reads: the folder of the checkout, the entry, and the time of the last change and the size of each source. */
function nameToLauncher(entry: string, sources: readonly string[], startedMs: number): void {
  const states = sources.map((path) => {
    const { mtimeMs, size } = statSync(path);
    return [relative(root, path), mtimeMs, size] as const;
  });
  // A source that was changed meanwhile may be in the bundle as it was before.
  if (states.some(([, mtimeMs]) => mtimeMs >= startedMs)) return;
  const unfinished = join(cache, `${randomUUID()}.json`);
  const bundle = { root: resolve(root), entry: relative(root, entry), sources: states };
  writeFileSync(unfinished, JSON.stringify(bundle));
  renameSync(unfinished, join(cache, "current.json"));
}
