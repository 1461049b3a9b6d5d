/** Builds the site with VitePress into a folder. Its output is shown where the build fails. */

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;

/** Settings of a build; see `SiteSettings`. */
export interface BuildOptions {
  readonly base?: string;
  readonly repository?: string;
  /** Folder of the site, which is replaced. @default site/dist */
  readonly output?: string;
}

/** Builds the site. Returns the folder; undefined where the build failed. */
export async function buildSite(
  { base, repository, output = join(folder, "dist") }: BuildOptions,
  progress: (line: string) => void,
): Promise<string | undefined> {
  rmSync(output, { recursive: true, force: true });
  const program = join(folder, "node_modules/vitepress/bin/vitepress.js");
  const child = spawn(process.execPath, [program, "build", folder, "--outDir", output], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      ...(base === undefined ? {} : { TOOLCRIB_SITE_BASE: base }),
      ...(repository === undefined ? {} : { TOOLCRIB_SITE_REPOSITORY: repository }),
    },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (part: string) => {
      text = (text + part).slice(-100_000);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  if (code === 0) return output;
  progress(text);
  return undefined;
}
