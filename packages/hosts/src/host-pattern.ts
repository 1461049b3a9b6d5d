/**
 * Host patterns: which hosts an egress list allows. The one implementation that
 * lint and the egress proxy share, so that what lint accepts is what the proxy
 * lets through. Text in, verdict out: no DNS, no network, no address is judged
 * here but by refusing every spelling of one.
 *
 * A pattern is a host name or `*.` and a suffix of two labels or more. A name is
 * lower-case ASCII: letters, digits, inner hyphens. A wildcard stands for
 * exactly one label. Nothing is repaired: a host that is not in this form
 * (trailing dot, Unicode, percent signs, user information) is no host.
 */

/** A host pattern that was read. */
export interface HostPattern {
  /** As it is written, such as `*.example.com`. */
  readonly text: string;
  /** Whether it begins with `*.`. */
  readonly isWildcard: boolean;
  /** The name behind the wildcard, or the whole name. */
  readonly name: string;
}

/** What is wrong with a host or pattern. */
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

/** What reading a host or pattern came to. */
export type HostVerdict<T> =
  | { readonly kind: "valid"; readonly value: T }
  | {
      readonly kind: "invalid";
      readonly fault: HostFault;
      /** What is allowed, as the end of a sentence: `ports are not allowed`. */
      readonly reason: string;
      /** What was probably meant, where that is clear. */
      readonly instead?: string;
    };

/** RFC 1035: longest name without its final dot. */
const nameMaxLength = 253;
const labelMaxLength = 63;

const reasons: { readonly [F in HostFault]: string } = {
  empty: "it is empty",
  url: "it is a host name, without a scheme",
  user_information: "user information is not allowed",
  port: "ports are not allowed",
  path: "paths are not allowed",
  address: "addresses are not allowed, only names",
  wildcard: 'a wildcard is "*." at the beginning and stands for one label',
  wildcard_too_broad: "a wildcard needs at least two labels behind it",
  single_label: "a name needs at least two labels",
  upper_case: "names are in lower case",
  not_ascii: "names are ASCII: write the punycode form (xn--…)",
  underscore: "an underscore is not allowed in a name",
  trailing_dot: "a dot at the end is not allowed",
  label: "labels are letters, digits and inner hyphens",
  too_long: `a name has at most ${nameMaxLength} characters, a label ${labelMaxLength}`,
};

function refuse(fault: HostFault, instead?: string): HostVerdict<never> {
  const useful = instead !== undefined && judgeName(instead.replace(/^\*\./, "")) === undefined;
  return { kind: "invalid", fault, reason: reasons[fault], ...(useful ? { instead } : {}) };
}

/** Read one entry of an egress list. */
export function parseHostPattern(text: string): HostVerdict<HostPattern> {
  const isWildcard = text.startsWith("*.");
  const name = isWildcard ? text.slice(2) : text;
  const fault = judgeName(name);
  if (fault === "single_label" && isWildcard) return refuse("wildcard_too_broad");
  if (fault !== undefined) return refuse(fault, proposal(text, fault));
  return { kind: "valid", value: { text, isWildcard, name } };
}

/** Read a host that is no pattern, such as that of a base URL. Its case counts: write it in lower case. */
export function parseHostName(text: string): HostVerdict<string> {
  const fault = judgeName(text);
  return fault === undefined ? { kind: "valid", value: text } : refuse(fault, proposal(text, fault));
}

/**
 * The one spelling of a host that a request names: in lower case. `undefined`
 * for what is no host name, which nothing may match: addresses in any spelling,
 * Unicode, control characters, trailing dots, ports.
 */
export function canonicalHost(host: string): string | undefined {
  // ASCII only, because other letters change their number, and some become ASCII, in lower case.
  const lower = host.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return judgeName(lower) === undefined ? lower : undefined;
}

/** Whether `pattern` allows the host of a request. */
export function matchesHost(pattern: HostPattern, host: string): boolean {
  return isHostAllowed([pattern], host);
}

/** Whether any of `patterns` allows the host of a request. */
export function isHostAllowed(patterns: readonly HostPattern[], host: string): boolean {
  const canonical = canonicalHost(host);
  if (canonical === undefined) return false;
  const parent = canonical.slice(canonical.indexOf(".") + 1);
  return patterns.some(({ isWildcard, name }) => name === (isWildcard ? parent : canonical));
}

/** Most names, at a glance: labels of at most 63 characters, the last of which begins with a letter. */
const commonPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function judgeName(name: string): HostFault | undefined {
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
  // WHATWG URL: a host whose last label is a number is an IPv4 address, whatever comes before.
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

/** `text` without what is wrong with it, where taking that away cannot change which host is meant. */
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
