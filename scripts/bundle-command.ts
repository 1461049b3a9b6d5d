/**
 * Bundles the sources of the command for `npm test`, whose tests start it more than
 * a thousand times: Node spends half of the time to start it from its sources on
 * hundreds of small modules. Each module behaves as if it were in its own file:
 * `import.meta.url`, `import.meta.dirname` and `__dirname` keep their values. Prints the
 * path of its entry.
 */

import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Age in milliseconds at which the bundles of other sources are removed. Another run can use a younger one. */
const removedAfterMs = 24 * 60 * 60 * 1000;

console.log(await bundleCommand());

/**
 * Writes the bundle below `node_modules/.cache`, to a folder named after its content,
 * so that Node's compile cache knows it.
 *
 * @returns the path of its entry
 */
async function bundleCommand(): Promise<string> {
  const build = await rolldown({
    cwd: root,
    input: { bin: join(root, "packages/cli/src/bin.ts") },
    platform: "node",
    // jsonc-parser can be bundled by its "module" only: its "main" passes `require` on.
    resolve: {
      conditionNames: ["toolcrib-source", "node", "import", "default"],
      mainFields: ["module", "main"],
    },
    plugins: [{ name: "places", transform: keepPlaces }],
    // Its reports about slow plugins are about busy machines.
    checks: { pluginTimings: false },
    logLevel: "warn",
  });
  const { output } = await build.generate({
    format: "esm",
    // Node need not find out that they are modules.
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await build.close();
  const files = output.flatMap((file) => (file.type === "chunk" ? [file] : []));
  const hash = createHash("sha256");
  for (const { fileName, code } of files) hash.update(fileName).update(code);
  const cache = join(root, "node_modules/.cache/toolcrib-command");
  const folder = join(cache, hash.digest("hex").slice(0, 16));
  if (!existsSync(folder)) {
    const unfinished = join(cache, randomUUID());
    mkdirSync(unfinished, { recursive: true });
    for (const { fileName, code } of files) writeFileSync(join(unfinished, fileName), code);
    place(unfinished, folder);
    removeOld(cache, folder);
  }
  return join(folder, "bin.mjs");
}

/** Replaces what a module reads of its own place by the place of its source. */
function keepPlaces(code: string, path: string): string | null {
  // Modules of this repository name `__dirname` only in texts.
  const isForeign = path.includes("node_modules");
  if (!code.includes("import.meta.") && !(isForeign && code.includes("__dirname"))) return null;
  const kept = code
    .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
    .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)));
  return isForeign ? kept.replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(path))) : kept;
}

/** Renames the finished folder, unless another run was first. */
function place(unfinished: string, folder: string): void {
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(cache: string, current: string): void {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined || folder === current) continue;
    if (Date.now() - stats.mtimeMs > removedAfterMs) rmSync(folder, { recursive: true, force: true });
  }
}
