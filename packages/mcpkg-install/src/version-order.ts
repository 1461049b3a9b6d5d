/** Versions and ranges by Semantic Versioning 2.0.0, as npm reads them. Pure. */

import { compare, satisfies, valid, validRange } from "semver";

/** Longest range in UTF-16 units. */
const rangeMaxLength = 200;

/** Whether `text` is a version whose numbers can be compared: none is greater than 2^53 - 1. */
export function isVersion(text: string): boolean {
  return valid(text) === text.replace(/\+.*$/, "");
}

/** Whether `version` is older than `other`. */
export function isOlder(version: string, other: string): boolean {
  return compare(version, other) < 0;
}

/** Whether `version` is in `range`. */
export function isInRange(version: string, range: string): boolean {
  return satisfies(version, range);
}

/** Whether `text` is a range, such as `^1.2`, `1.0.0` or `*`. */
export function isRange(text: string): boolean {
  return text.length <= rangeMaxLength && validRange(text) !== null;
}
