/** Versions of runtimes and packages, and the conditions on them. Pure. */

/** Numbers of a version, such as `[3, 11, 4]`. */
export type Version = readonly [major: number, minor: number, patch: number];

/** Parses the beginning of a text as a version: `18`, `v18.2`, `3.11.4rc1`. */
export function parseVersion(text: string): Version | undefined {
  const found = /^\s*v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?/.exec(text);
  if (found === null) return undefined;
  return [Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0)];
}

/** Compares two versions: negative if `a` is lower. */
export function compareVersions(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** Formats a version. */
export function versionText(version: Version): string {
  return version.join(".");
}

/** A library with conditions on its version (as PEP 508, names and versions only). */
export interface PackageRequirement {
  readonly name: string;
  readonly conditions: readonly {
    readonly operator: string;
    readonly version: Version;
    readonly text: string;
  }[];
}

/** Longest requirement in UTF-16 units. */
const requirementMaxLength = 500;

const conditionPattern = /^(===|==|!=|>=|<=|~=|>|<)\s*([0-9][A-Za-z0-9.+!*-]*)$/;

/** The name at the beginning. What follows it is not matched here: two runs of spaces in one pattern take cubic time. */
const namePattern = /^(?:@[a-z0-9][a-z0-9._-]{0,98}\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?/;

/** Parses such as `PyMuPDF>=1.23.0,<2`; undefined for anything else. */
export function parseRequirement(written: string): PackageRequirement | undefined {
  if (written.length > requirementMaxLength) return undefined;
  const text = written.trim();
  const [name] = namePattern.exec(text) ?? [];
  if (name === undefined) return undefined;
  const rest = text.slice(name.length).trim();
  if (rest === "") return { name, conditions: [] };
  const conditions = rest.split(",").map((part) => {
    const [, operator = "", wanted = ""] = conditionPattern.exec(part.trim()) ?? [];
    const version = parseVersion(wanted);
    return version === undefined || operator === "" ? undefined : { operator, version, text: wanted };
  });
  if (conditions.includes(undefined)) return undefined;
  return { name, conditions: conditions.filter((one) => one !== undefined) };
}

/** Whether a version meets all conditions. Only its numbers count. */
export function meetsConditions(written: string, conditions: PackageRequirement["conditions"]): boolean {
  const version = parseVersion(written);
  if (version === undefined) return false;
  return conditions.every(({ operator, version: wanted, text }) => {
    const order = compareVersions(version, wanted);
    switch (operator) {
      case "==":
      case "===":
        return text.endsWith(".*") ? isWithin(version, text) : order === 0;
      case "!=":
        return text.endsWith(".*") ? !isWithin(version, text) : order !== 0;
      case ">=":
        return order >= 0;
      case "<=":
        return order <= 0;
      case ">":
        return order > 0;
      case "<":
        return order < 0;
      default:
        return order >= 0 && isWithin(version, `${text.split(".").slice(0, -1).join(".")}.*`);
    }
  });
}

/** Whether a version begins with the numbers of `1.2.*`. */
function isWithin(version: Version, pattern: string): boolean {
  const numbers = pattern.replace(/\.\*$/, "").split(".").map(Number);
  return numbers.every((number, at) => at > 2 || version[at] === number);
}
