/** The limits of registries: of one, and of all that a command reads. */

/** Longest signed statement (`index.json`) in bytes. */
export const statementMaxBytes = 64 * 1024;
/** Longest list of packages in bytes: 10,000 versions with long descriptions have a quarter of it. */
export const indexMaxBytes = 48 * 1024 * 1024;
/** Versions of all packages in one registry. */
export const entriesMaxCount = 50_000;
/** Deepest nesting of a list of packages. */
export const indexMaxDepth = 8;
/** Values of a list of packages: objects, arrays, texts and numbers. */
export const indexMaxValues = 4_000_000;

/** Registries of one command. */
export const registriesMaxCount = 16;
/** Bytes of the lists of all registries together. */
export const indexesMaxBytes = 96 * 1024 * 1024;
/** Versions in all registries together. */
export const allEntriesMaxCount = 100_000;

/** Time in milliseconds for one file of an index, and for one package. */
export const indexTimeoutMs = 30_000;
export const archiveTimeoutMs = 300_000;
