/**
 * `npm run docs:site`: the documentation as a static site in site/dist. site/README.md
 * describes it.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findRepository } from "../scripts/release/repository-state.ts";
import { buildSite } from "./build-site.ts";
import { installDependencies } from "./dependencies.ts";
import { startSiteServer } from "./serve-site.ts";

const usage = `npm run docs:site -- [options]

  --base PATH        path below which the site is served (default /)
  --repository URL   address of the files of the repository, such as
                     https://example.com/toolcrib/blob/main; links to files that are
                     no pages lead there (default: that of the remote origin, if
                     it is public; else such links are shown as text)
  --serve            serves the site on http://127.0.0.1:4173 after the build
`;

const progress = (line: string) => void process.stderr.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      base: { type: "string", default: "/" },
      repository: { type: "string" },
      serve: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (!/^\/([\w.~-]+\/)*$/.test(values.base)) {
    progress(`--base begins and ends with "/", not "${values.base}"\n\n${usage}`);
    return 2;
  }
  if (!installDependencies(progress)) {
    progress("npm ci failed below site/, so the site cannot be built");
    return 1;
  }
  progress("Building the site");
  const folder = await buildSite({ ...values, repository: values.repository ?? repositoryFiles() }, progress);
  if (folder === undefined || !existsSync(join(folder, "index.html"))) return 1;
  process.stdout.write(`The site is in ${folder}\n`);
  if (!values.serve) return 0;
  const server = await startSiteServer(folder, { base: values.base, port: 4173 });
  process.stdout.write(`Serving it on ${server.url}; Ctrl-C stops\n`);
  return 0;
}

/** Returns the address of the files of the repository at its host; undefined where its host is unknown. */
function repositoryFiles(): string | undefined {
  const address = findRepository(join(import.meta.dirname, ".."));
  return address?.replace(/^git\+/, "").replace(/\.git$/, "/blob/HEAD");
}

process.exitCode = await main(process.argv.slice(2));
