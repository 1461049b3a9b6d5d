// For other packages here.
export { readCertificateFile } from "./certificate-file.ts";
export { createDirectory } from "./create-directory.ts";
export { moveDirectory, removeDirectory, writeDirectory } from "./directory-changes.ts";
export { type FileSteps, nodeFileSteps } from "./file-steps.ts";
export { errnoOf, FilesError, reasonOf } from "./files-error.ts";
export { tryLock, waitForLock } from "./lock.ts";
export { NotRegularError, openRegularFile } from "./open-regular-file.ts";
export { createPrivateFile, isOpenToOthers, makePrivateDirectory } from "./private-paths.ts";
export {
  type FileContent,
  type ReadFile,
  readRegularFile,
  readRegularFileAtOnce,
} from "./read-regular-file.ts";
export {
  createFile,
  type ReplaceOptions,
  removeDrafts,
  removeFile,
  replaceFile,
  toUnwritable,
} from "./replace-file.ts";
