/**
 * `load` for programs of the command line: files in the program's own folder and
 * below, by their path relative to the file that loads them. Each is run once, in
 * a thread of its own, whose steps and time are those of the one that asked for it.
 *
 * It never reads a file outside of that folder, wherever a link leads.
 */

import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { hasErrors, type Source } from "@toolcrib/diagnostics";
import {
  compileProgram,
  type Dialect,
  executeProgram,
  StarlarkError,
  type StarlarkModule,
  Thread,
  type ThreadOptions,
  type Value,
} from "@toolcrib/starlark";
import { CliError } from "../cli-error.ts";
import { readProgramFile } from "./program-file.ts";

/** What loaded files are run with. */
export interface LoaderOptions {
  /** The program's folder. */
  readonly folder: string;
  /** The folder as it is called in errors; empty for the working directory. */
  readonly folderName: string;
  readonly dialect: Dialect;
  readonly predeclared: ReadonlyMap<string, Value>;
  /** Told of each file that is read, so that errors can show its lines. */
  readonly onSource: (source: Source) => void;
}

/** The `load` of threads. */
export type Load = NonNullable<ThreadOptions["load"]>;

/** Create the `load` of the program at `path`, or of one that is no file. */
export function createLoad(options: LoaderOptions, path: string | undefined): Load {
  const loaded = new Map<string, Promise<StarlarkModule>>();

  /** `chain` are the files that are being loaded, the program first. */
  function loadFrom(folder: string, chain: readonly string[]): Load {
    return async (name, thread) => {
      const root = await realpath(options.folder);
      const file = await locate(name, folder, root);
      if (chain.includes(file)) {
        const names = [...chain.slice(chain.indexOf(file)), file].map((one) => relative(root, one));
        throw new StarlarkError(`files load each other in a circle: ${names.join(" → ")}`, {
          hint: "move what both need into a file of its own",
        });
      }
      let module = loaded.get(file);
      if (module === undefined) {
        const displayName = join(options.folderName, relative(root, file));
        module = run(file, displayName, thread, [...chain, file]);
        loaded.set(file, module);
        // At a prompt, a file that failed may be mended and loaded again.
        module.catch(() => loaded.delete(file));
      }
      return module;
    };
  }

  async function run(
    file: string,
    name: string,
    parent: Thread,
    chain: readonly string[],
  ): Promise<StarlarkModule> {
    const source = await readProgramFile(file, name);
    options.onSource(source);
    const { dialect, predeclared } = options;
    const { program, diagnostics } = compileProgram(source, { dialect, predeclared: predeclared.keys() });
    if (program === undefined) {
      throw new CliError("CLI_PROGRAM_INVALID", "it has errors", {
        data: { diagnostics: diagnostics.filter((one) => hasErrors([one])) },
      });
    }
    const { limits } = parent;
    const thread = new Thread(parent.host, {
      ...parent.options,
      name,
      limits: {
        ...limits,
        steps: Math.max(1, limits.steps - parent.steps),
        wallMs: Math.max(1, Math.min(limits.wallMs, Math.floor(parent.remainingMs))),
      },
      print: (line) => parent.print(line),
      load: loadFrom(dirname(file), chain),
    });
    const { module } = await executeProgram(thread, program, predeclared);
    parent.step(thread.steps);
    return module;
  }

  return async (name, thread) => {
    const start = path === undefined ? [] : [await realpath(path)];
    return loadFrom(await realpath(options.folder), start)(name, thread);
  };
}

/** The real path of what `folder` calls `name`, within `root`. */
async function locate(name: string, folder: string, root: string): Promise<string> {
  const hint = "name a file of the program's folder, such as lib.star or lib/text.star";
  const wanted = resolve(folder, name);
  if (isAbsolute(name) || !isWithin(wanted, root)) {
    throw new StarlarkError("it is not in the program's folder", { hint });
  }
  let file: string;
  try {
    file = await realpath(wanted);
  } catch {
    throw new StarlarkError("there is no such file", { hint });
  }
  if (!isWithin(file, root)) throw new StarlarkError("it leads out of the program's folder", { hint });
  return file;
}

function isWithin(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
