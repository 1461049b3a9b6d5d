/** Node's file operations, each of which a test can observe, fail or stop at. */

import { type FileSteps, nodeFileSteps } from "@toolcrib/files";

/** The name of a file operation. */
export type StepName = keyof FileSteps | "write" | "setModified" | "setPermissions" | "sync" | "close";

/** Returns Node's file operations, each run inside of `around`. */
export function steppedFiles(around: <T>(step: StepName, run: () => Promise<T>) => Promise<T>): FileSteps {
  return {
    async create(path, mode) {
      const draft = await around("create", () => nodeFileSteps.create(path, mode));
      return {
        write: (bytes) => around("write", () => draft.write(bytes)),
        setModified: (atMs) => around("setModified", () => draft.setModified(atMs)),
        setPermissions: (permissions) => around("setPermissions", () => draft.setPermissions(permissions)),
        sync: () => around("sync", () => draft.sync()),
        async close() {
          // A failed close has closed the file nevertheless.
          await draft.close();
          await around("close", async () => undefined);
        },
      };
    },
    rename: (from, to) => around("rename", () => nodeFileSteps.rename(from, to)),
    link: (path, name) => around("link", () => nodeFileSteps.link(path, name)),
    remove: (path) => around("remove", () => nodeFileSteps.remove(path)),
    makeDirectory: (path, mode) => around("makeDirectory", () => nodeFileSteps.makeDirectory(path, mode)),
    removeDirectory: (path) => around("removeDirectory", () => nodeFileSteps.removeDirectory(path)),
    syncDirectory: (path) => around("syncDirectory", () => nodeFileSteps.syncDirectory(path)),
  };
}
