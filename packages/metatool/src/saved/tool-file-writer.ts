/** Changes the files of a directory of saved tools. The directory must be locked. */

import { join } from "node:path";
import { type ReplaceOptions, removeDrafts, removeFile, replaceFile } from "@toolcrib/files";
import { changeFiles } from "./change-errors.ts";
import type { SavedFiles } from "./saved-files.ts";

/** Dependencies of the writer. */
export interface ToolFileWriterDeps {
  readonly files: SavedFiles;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Writes and removes files by name. Errors are as of `changeFiles`. */
export class ToolFileWriter {
  readonly #deps: ToolFileWriterDeps;
  readonly #directory: string;

  constructor(deps: ToolFileWriterDeps, directory: string) {
    this.#deps = deps;
    this.#directory = directory;
  }

  /** Replaces a file atomically. @returns `false` when `isStillWanted` cancelled the replacement */
  replace(fileName: string, text: string, options?: ReplaceOptions): Promise<boolean> {
    const { randomBytes, files } = this.#deps;
    const path = join(this.#directory, fileName);
    return changeFiles(() => replaceFile({ randomBytes, steps: files }, path, text, options));
  }

  remove(fileName: string): Promise<void> {
    return changeFiles(() => removeFile(join(this.#directory, fileName), this.#deps.files));
  }

  /** Removes the drafts of writers that were killed. */
  removeDrafts(): Promise<void> {
    return changeFiles(() => removeDrafts(this.#directory, { steps: this.#deps.files }));
  }
}
