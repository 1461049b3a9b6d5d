/** Maps failed file operations to the errors of this package. */

import { errnoOf, FilesError, toUnwritable as toFilesError } from "@toolcrib/files";
import { MetatoolError } from "../metatool-error.ts";

/**
 * Runs a change of files.
 *
 * @throws {MetatoolError} `METATOOL_UNWRITABLE`, with the old content in place; `METATOOL_NOT_DURABLE`, with the new content.
 */
export async function changeFiles<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    throw toChangeError(error);
  }
}

/** Returns the error for a change to `path` that was not made. */
export function toUnwritable(path: string, cause: unknown): MetatoolError {
  return toChangeError(toFilesError(path, cause));
}

function toChangeError({ message, cause, hint, content, errno }: FilesError): MetatoolError {
  return content === "new"
    ? new MetatoolError("METATOOL_NOT_DURABLE", message, { cause, hint })
    : new MetatoolError("METATOOL_UNWRITABLE", message, {
        cause,
        hint,
        data: { errno: errno ?? errnoOf(cause) },
      });
}
