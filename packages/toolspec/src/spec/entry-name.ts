/** Names and versions of manifests and toolspecs. */

/** Names of manifests and toolspecs. */
export const entryName = {
  source: "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?",
  meaning: "lower-case letters, digits and inner hyphens, without underscores",
};
/** Versions of manifests and toolspecs. */
export const entryVersion = {
  source: "(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)\\.(?:0|[1-9][0-9]*)",
  meaning: "MAJOR.MINOR.PATCH without leading zeros",
};

/** Returns the probable intention of an invalid name. */
export function toEntryName(written: string): string {
  return written
    .trim()
    .toLowerCase()
    .replace(/[\s_.]+/g, "-");
}

/** Whether `text` is a valid name, or version, of a manifest or toolspec. */
export function isEntryText(field: "name" | "version", text: string): boolean {
  return new RegExp(`^(?:${(field === "name" ? entryName : entryVersion).source})$`).test(text.slice(0, 100));
}
