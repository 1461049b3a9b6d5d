/** Codes of this package's errors, each with its meaning. */
export const filesCodes = {
  FILE_UNWRITABLE: "A file could not be written. The old content, or no file, is in place.",
  FILE_NOT_DURABLE:
    "A file was changed, but the disk did not confirm the change. The new content is in place; a power failure may undo it.",
  FILE_EXPOSED: "A directory that must be private is open to other users of the machine.",
  FILE_LOCK_UNUSABLE: "A lock file could not be created or locked.",
} as const;

/** A key of `filesCodes`. */
export type FilesCode = keyof typeof filesCodes;
