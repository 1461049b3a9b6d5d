/**
 * Attacks on the destination of a request other than its host: arguments of a call,
 * targets of redirects, DNS answers, and addresses to connect to. They are written
 * for hosts below `*.wild.example.com` and for a toolspec at `api.example.com`.
 */

import { isIP } from "node:net";
import type { DnsAnswer } from "./dns-server.ts";
import { addressCases, benignHosts, caseHost, hostCases } from "./host-cases.ts";

/** A name and its DNS answers, one for each query; the last one repeats. */
export interface DnsCase {
  readonly host: string;
  readonly answers: readonly DnsAnswer[];
}

/** The host part of each URL of `hostCases`, or the whole URL if it has none. Allowed hosts are left out. */
export const hostTexts: readonly string[] = [
  ...new Set(
    hostCases.map(({ url }) =>
      url.startsWith("https://") && url.endsWith("/") && url.length > 9 ? url.slice(8, -1) : url,
    ),
  ),
].filter((text) => text !== caseHost);

/** Accepted hosts, in lower case, without duplicates. */
export const benignNames: readonly string[] = [...new Set(benignHosts.map((host) => host.toLowerCase()))];

/** Texts that a careless parser takes for a host, an address, another line or another path. */
export const hostileValues: readonly string[] = [
  ...["@127.0.0.1", "@evil.example", "user:password@127.0.0.1", ":80@127.0.0.1/", ".evil.example", ":8080/"],
  ...[
    "//127.0.0.1/",
    "//127.0.0.1:8080/",
    "///127.0.0.1/",
    "/\\127.0.0.1/",
    "\\\\127.0.0.1\\",
    "\\/127.0.0.1",
  ],
  ...[
    "http://127.0.0.1/",
    "https://127.0.0.1:8443/",
    "https:127.0.0.1",
    "https:/127.0.0.1",
    "ftp://127.0.0.1",
  ],
  ...["http://[::1]:8080/", "//[::1]/", "//0/", "//2130706433/", "//0x7f.1/", "file:///etc/passwd"],
  ...[
    "..",
    ".",
    "../..",
    "../../../",
    "..%2f..%2f",
    "%2e%2e",
    "%2e%2e%2f",
    "..;/",
    "..\\..\\",
    "%252e%252e/",
  ],
  ...["..%5c", "%2f%2f127.0.0.1", "%5c%5c127.0.0.1", "%00", "\0", "a\0b", "%0d%0aHost:%20127.0.0.1"],
  ...[
    "a\r\nHost: 127.0.0.1",
    "a\nHost: 127.0.0.1",
    "a\rHost: 127.0.0.1",
    "a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
  ],
  ...[
    "a\r\n\r\nGET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a b",
    "a\tb",
    "a\u0085b",
    "a\u2028b",
  ],
  ...["#@127.0.0.1", "?@127.0.0.1", "#", "?", "?x=1#y", "&host=127.0.0.1", ";", "%23@127.0.0.1", "%3f"],
  ...[
    "／／127.0.0.1",
    "＼＼127.0.0.1",
    "。。",
    "．．／",
    "․․/",
    "\u202e1.0.0.721//:ptth",
    "\ud800",
    "\udfff",
  ],
];

const plain = new URL(`https://${caseHost}/`);

/** Values of `Location`, none of which may lead to a host other than `api.example.com`. */
export const redirectTargets: readonly string[] = [
  ...new Set([
    ...hostCases.map(({ url }) => url).filter((url) => url !== ""),
    ...hostileValues,
    ...[`blob:https://${caseHost}/`, `filesystem:https://${caseHost}/`, `view-source:https://${caseHost}/`],
    ...["127.0.0.1", "[::1]", "localhost", "evil.example", "169.254.169.254"].flatMap((host) => [
      `//${host}/`,
      `///${host}/`,
      `/\\${host}/`,
      `\\\\${host}\\`,
      `http://${host}/`,
      `https:${host}`,
      `\t//${host}/`,
      ` //${host}/`,
      `/%09/${host}/`,
      `/./${host}`,
      `https://${host}:443/`,
      `https://${host}#@${plain.host}/`,
      `https://${host}?@${plain.host}/`,
      `https://${host}\\@${plain.host}/`,
      `https://${plain.host}@${host}/`,
      `https://${plain.host}:443@${host}/`,
      `blob:https://${plain.host}@${host}/`,
      `blob:https://${host}/`,
    ]),
  ]),
];

/**
 * DNS answers with internal addresses, each with its name.
 *
 * @param allowed an allowed address, for names whose answer changes.
 */
export function dnsCases(allowed: string): readonly DnsCase[] {
  const direct = addressCases
    .filter((addresses) => addresses.every((one) => isIP(one) !== 0 && !one.includes("%") && one !== allowed))
    .map((addresses): readonly DnsAnswer[] => [{ addresses }]);
  const mapped = `::ffff:${allowed}`;
  const inside = [
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "192.168.0.1",
    "0.0.0.0",
    "::1",
    "fd00::1",
    mapped,
  ].filter((one) => one !== allowed);
  const rebound = inside.map((address) => [{ addresses: [allowed] }, { addresses: [address] }]);
  const mixed = inside.flatMap((address) => [
    [{ addresses: [allowed, address] }],
    [{ addresses: [address, allowed] }],
  ]);
  const aliases = inside.map((address) => [{ addresses: [address], alias: "inside.example.net" }]);
  return [...direct, ...rebound, ...mixed, ...aliases].map((answers, index) => ({
    host: `dns-${index}.wild.example.com`,
    answers,
  }));
}

/** Addresses with a port, in place of a host, none of which may be connected to. */
export const endpointCases: readonly string[] = [
  ...[
    "127.0.0.1:443",
    "127.0.0.1:8080",
    "127.0.0.2:443",
    "127.255.255.254:80",
    "0.0.0.0:8080",
    "10.0.0.1:443",
  ],
  ...["169.254.169.254:80", "192.168.0.1:443", "172.16.0.1:443", "100.64.0.1:443", "255.255.255.255:443"],
  ...[
    "[::1]:443",
    "[::1]:8080",
    "[::]:443",
    "[::ffff:127.0.0.1]:8080",
    "[::ffff:7f00:1]:443",
    "[fd00::1]:443",
  ],
  ...["[fe80::1]:443", "[64:ff9b::7f00:1]:443", "[2002:7f00:1::]:443", "168.63.129.16:80", "224.0.0.1:443"],
];
