/** Describes the access of a package in one line for people. Pure. */

import type { PackageReach } from "@toolcrib/mcpkg";

/** Items of one kind that are shown. */
const shownMax = 8;

/** Returns the line, such as `api.example.com with a bearer credential; runs node ./x.js here, contained`. */
export function accessText({ hosts, credential, programs, tools }: PackageReach): string {
  const sent = credential === undefined ? "" : ` with a credential (${credential})`;
  const parts = [
    ...(hosts.length === 0 ? [] : [`${list(hosts)}${sent}`]),
    ...(programs.length === 0 ? [] : [`runs ${list(programs)} here, contained`]),
    ...(tools.length === 0 ? [] : [`calls ${list(tools)}`]),
  ];
  return parts.length === 0 ? "no host, no program and no other tool" : parts.join("; ");
}

function list(items: readonly string[]): string {
  const more = items.length > shownMax ? ` and ${items.length - shownMax} more` : "";
  return `${items.slice(0, shownMax).join(", ")}${more}`;
}
