/** Numbers of the ZIP format (PKWARE APPNOTE 6.3.10, sections 4.3 and 4.4) that the reader and the writer share. */

/** Signatures of records, little endian. */
export const signatures = {
  localHeader: 0x04034b50,
  centralHeader: 0x02014b50,
  endOfDirectory: 0x06054b50,
  descriptor: 0x08074b50,
} as const;

/** Fixed sizes of records in bytes, without names, extra fields and comments. */
export const sizes = { localHeader: 30, centralHeader: 46, endOfDirectory: 22 } as const;

/** Compression methods that packages may use. */
export const methods = { stored: 0, deflated: 8 } as const;

/** Bits of the general purpose flags. */
export const flags = {
  /** Levels of deflate; without meaning for a reader. */
  deflateLevels: 0b110,
  /** Sizes and checksum follow the data. */
  descriptor: 0b1000,
  /** The name is UTF-8. */
  utf8: 0x800,
} as const;

/** The types of files in the upper 16 bits of the external attributes (POSIX `st_mode`). */
export const fileTypes = {
  mask: 0o170000,
  regular: 0o100000,
  directory: 0o040000,
  executable: 0o111,
} as const;

/** Number for Unix in the upper byte of "version made by". */
export const madeOnUnix = 3;
