/** Names and versions, the same for manifests and toolspecs. */

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

/** A name as it was probably meant. */
export function toEntryName(written: string): string {
  return written
    .trim()
    .toLowerCase()
    .replace(/[\s_.]+/g, "-");
}

/** Whether `text` can be the name, or the version, of a manifest or toolspec. */
export function isEntryText(field: "name" | "version", text: string): boolean {
  return new RegExp(`^(?:${(field === "name" ? entryName : entryVersion).source})$`).test(text.slice(0, 100));
}
