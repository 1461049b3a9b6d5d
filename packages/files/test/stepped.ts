/** Node's file steps, each of which a test can watch, fail or stop at. */

import { type FileSteps, nodeFileSteps } from "@toolcrib/files";

/** The name of a step. */
export type StepName = keyof FileSteps | "write" | "setModified" | "setPermissions" | "sync" | "close";

/** Returns Node's steps, each run inside `around`. */
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
          // A close that fails has closed the file all the same.
          await draft.close();
          await around("close", async () => undefined);
        },
      };
    },
    rename: (from, to) => around("rename", () => nodeFileSteps.rename(from, to)),
    link: (path, name) => around("link", () => nodeFileSteps.link(path, name)),
    remove: (path) => around("remove", () => nodeFileSteps.remove(path)),
    syncDirectory: (path) => around("syncDirectory", () => nodeFileSteps.syncDirectory(path)),
  };
}
