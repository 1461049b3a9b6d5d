/**
 * Host patterns, which define the hosts that an egress list allows. Lint and the
 * egress share this implementation, so that the proxy accepts exactly the hosts
 * that lint accepts. No DNS and no network. Addresses are refused in every
 * spelling.
 *
 * A pattern is a host name, or `*.` and a suffix of two labels or more. A name is
 * lower-case ASCII: letters, digits, inner hyphens. A wildcard matches exactly
 * one label. Hosts are never repaired: a host with a trailing dot, Unicode,
 * percent signs or user information is invalid.
 */

/** A parsed host pattern. */
export interface HostPattern {
  /** The pattern as written, such as `*.example.com`. */
  readonly text: string;
  /** Whether the pattern begins with `*.`. */
  readonly isWildcard: boolean;
  /** The name after `*.`, or the whole name. */
  readonly name: string;
}

/** The error in a host or pattern. */
export type HostFault =
  | "empty"
  | "url"
  | "user_information"
  | "port"
  | "path"
  | "address"
  | "wildcard"
  | "wildcard_too_broad"
  | "single_label"
  | "upper_case"
  | "not_ascii"
  | "underscore"
  | "trailing_dot"
  | "label"
  | "too_long";

/** The result of parsing a host or pattern. */
export type HostVerdict<T> =
  | { readonly kind: "valid"; readonly value: T }
  | {
      readonly kind: "invalid";
      readonly fault: HostFault;
      /** The rule that the text breaks, such as `ports are not allowed`. */
      readonly reason: string;
      /** The text that was probably meant, if that is clear. */
      readonly instead?: string;
    };

/** RFC 1035: longest name, without a trailing dot. */
const nameMaxLength = 253;
const labelMaxLength = 63;

const reasons: { readonly [F in HostFault]: string } = {
  empty: "it is empty",
  url: "it is a host name, without a scheme",
  user_information: "user information is not allowed",
  port: "ports are not allowed",
  path: "paths are not allowed",
  address: "addresses are not allowed, only names",
  wildcard: 'a wildcard is "*." at the beginning and matches one label',
  wildcard_too_broad: "a wildcard needs at least two labels after it",
  single_label: "a name needs at least two labels",
  upper_case: "names are in lower case",
  not_ascii: "names are ASCII: write the punycode form (xn--…)",
  underscore: "an underscore is not allowed in a name",
  trailing_dot: "a trailing dot is not allowed",
  label: "labels are letters, digits and inner hyphens",
  too_long: `a name has at most ${nameMaxLength} characters, a label ${labelMaxLength}`,
};

function refuse(fault: HostFault, instead?: string): HostVerdict<never> {
  const useful = instead !== undefined && findFault(instead.replace(/^\*\./, "")) === undefined;
  return { kind: "invalid", fault, reason: reasons[fault], ...(useful ? { instead } : {}) };
}

/** Parses an entry of an egress list. */
export function parseHostPattern(text: string): HostVerdict<HostPattern> {
  const isWildcard = text.startsWith("*.");
  const name = isWildcard ? text.slice(2) : text;
  const fault = findFault(name);
  if (fault === "single_label" && isWildcard) return refuse("wildcard_too_broad");
  if (fault !== undefined) return refuse(fault, proposal(text, fault));
  return { kind: "valid", value: { text, isWildcard, name } };
}

/** Parses a host that is not a pattern, such as that of a base URL. Upper case is invalid. */
export function parseHostName(text: string): HostVerdict<string> {
  const fault = findFault(text);
  return fault === undefined ? { kind: "valid", value: text } : refuse(fault, proposal(text, fault));
}

/**
 * Returns the canonical spelling of the host of a request: in lower case.
 * Returns `undefined` for an invalid host, which no pattern matches: addresses
 * in any spelling, Unicode, control characters, trailing dots, ports.
 */
export function canonicalHost(host: string): string | undefined {
  // ASCII only: other letters can change their number in lower case, and some become ASCII.
  const lower = host.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return findFault(lower) === undefined ? lower : undefined;
}

/** Whether any of `patterns` allows the host of a request. */
export function isHostAllowed(patterns: readonly HostPattern[], host: string): boolean {
  const canonical = canonicalHost(host);
  if (canonical === undefined) return false;
  const parent = canonical.slice(canonical.indexOf(".") + 1);
  return patterns.some(({ isWildcard, name }) => name === (isWildcard ? parent : canonical));
}

/** Matches most valid names: labels of at most 63 characters, the last of which begins with a letter. */
const commonPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function findFault(name: string): HostFault | undefined {
  if (name.length <= nameMaxLength && commonPattern.test(name)) return undefined;
  if (name === "") return "empty";
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(name)) return "url";
  if (name.includes("@")) return "user_information";
  // Brackets and a second colon make an IPv6 address; one colon is a port.
  if (/^\[.*\]/.test(name) || (name.includes(":") && name.indexOf(":") !== name.lastIndexOf(":")))
    return "address";
  if (/[/\\?#]/.test(name)) return "path";
  if (name.includes(":")) return "port";
  if (name.includes("*")) return "wildcard";
  if (/[^\x00-\x7f]/.test(name)) return "not_ascii";
  if (name.includes("_")) return "underscore";
  const labels = name.split(".");
  // WHATWG URL: a host whose last label is a number is an IPv4 address.
  if (labels.length <= 5 && isNumber(labels.at(-1) || labels.at(-2) || "")) return "address";
  if (name.endsWith(".")) return "trailing_dot";
  if (!labels.every((label) => /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(label))) return "label";
  if (/[A-Z]/.test(name)) return "upper_case";
  if (name.length > nameMaxLength || labels.some((label) => label.length > labelMaxLength)) return "too_long";
  if (labels.length < 2) return "single_label";
  return isNumber(labels.at(-1) ?? "") ? "address" : undefined;
}

function isNumber(label: string): boolean {
  return /^(?:[0-9]+|0x[0-9a-f]*)$/i.test(label);
}

/** Returns `text` without its error, if the correction cannot change the intended host. */
function proposal(text: string, fault: HostFault): string | undefined {
  switch (fault) {
    case "url":
      return text.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//, "").replace(/[/?#].*$/s, "");
    case "port":
      return text.replace(/:.*$/s, "");
    case "path":
      return text.replace(/[/\\?#].*$/s, "");
    case "upper_case":
      return text.toLowerCase();
    case "trailing_dot":
      return text.replace(/\.+$/, "");
    default:
      return undefined;
  }
}
