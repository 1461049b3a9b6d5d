/**
 * Implements `load` for programs on the command line. A path is relative to the
 * loading file, and must be in the program's folder or below. Each file runs once,
 * in its own thread, with the remaining steps and time of the loading thread.
 *
 * It never reads a file outside that folder, even through a link.
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

/** Options of `createLoad`. */
export interface LoaderOptions {
  /** The program's folder. */
  readonly folder: string;
  /** The folder's name in errors; empty for the working directory. */
  readonly folderName: string;
  readonly dialect: Dialect;
  readonly predeclared: ReadonlyMap<string, Value>;
  /** Receives each file that is read, so that errors can show its lines. */
  readonly onSource: (source: Source) => void;
}

/** The `load` function of threads. */
export type Load = NonNullable<ThreadOptions["load"]>;

/** Creates the `load` function. @param path the program; `undefined` if it is not a file */
export function createLoad(options: LoaderOptions, path: string | undefined): Load {
  const loaded = new Map<string, Promise<StarlarkModule>>();

  /** @param chain the files that are being loaded, starting with the program */
  function loadFrom(folder: string, chain: readonly string[]): Load {
    return async (name, thread) => {
      const root = await realpath(options.folder);
      const file = await locate(name, folder, root);
      if (chain.includes(file)) {
        const names = [...chain.slice(chain.indexOf(file)), file].map((one) => relative(root, one));
        throw new StarlarkError(`files load each other in a cycle: ${names.join(" → ")}`, {
          hint: "move the shared code into another file",
        });
      }
      let module = loaded.get(file);
      if (module === undefined) {
        const displayName = join(options.folderName, relative(root, file));
        module = run(file, displayName, thread, [...chain, file]);
        loaded.set(file, module);
        // In the REPL, the user can fix a failed file and load it again.
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

/** Resolves `name` from `folder` to a real path inside `root`. */
async function locate(name: string, folder: string, root: string): Promise<string> {
  const hint = "use a file in the program's folder, such as lib.star or lib/text.star";
  const wanted = resolve(folder, name);
  if (isAbsolute(name) || !isWithin(wanted, root)) {
    throw new StarlarkError("it is not in the program's folder", { hint });
  }
  let file: string;
  try {
    file = await realpath(wanted);
  } catch {
    throw new StarlarkError("the file does not exist", { hint });
  }
  if (!isWithin(file, root))
    throw new StarlarkError("it links to a file outside the program's folder", { hint });
  return file;
}

function isWithin(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
