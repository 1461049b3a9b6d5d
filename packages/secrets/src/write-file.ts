/** Files of the store that are there whole or not at all, whenever the process or the machine dies. */

import { open, readdir, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

const temporaryEnding = ".tmp";

/**
 * Put a file of mode 0600 with `text` at `path`, in the place of the one that is there.
 *
 * @param mark random; makes the name of the file that is written first.
 */
export async function writePrivateFile(path: string, text: string, mark: string): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${mark}${temporaryEnding}`);
  // "x": never into a file or through a link that somebody else made.
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {
      // It is encrypted, and the next writer removes it.
    });
    throw error;
  }
  await syncFolder(folder);
}

/** Let what was made, renamed or removed in `folder` reach the disk. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows has no such call, and does it by itself.
  if (process.platform === "win32") return;
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** Remove what killed writers left. Only while no other writes. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const file of await readdir(folder)) {
    if (file.startsWith(".") && file.endsWith(temporaryEnding)) await unlink(join(folder, file));
  }
}
