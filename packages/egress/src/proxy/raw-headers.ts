/** Headers as lists of alternating names and values, which preserve order, case and repetition. Pure. */

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { requestConnectionHeaders } from "../connection-headers.ts";
import type { RawHeaders } from "./client-exchange.ts";

/** Converts to the form of `node:http2`: names in lower case, all values of a repeated name in an array. */
export function toHeaderObject(raw: RawHeaders): OutgoingHttpHeaders {
  const fields: OutgoingHttpHeaders = Object.create(null);
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    if (name.startsWith(":")) continue;
    const value = raw[index + 1] as string;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = [String(before), value];
  }
  return fields;
}

/** Converts from the form of `node:http2`: one entry for each value, without pseudo headers. */
export function fromHeaderObject(fields: IncomingHttpHeaders): RawHeaders {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (name.startsWith(":") || value === undefined) return [];
    return Array.isArray(value) ? value.flatMap((one) => [name, one]) : [name, value];
  });
}

/** Returns pairs of name and value. */
export function toPairs(raw: RawHeaders): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2) {
    pairs.push([raw[index] as string, raw[index + 1] as string]);
  }
  return pairs;
}

/** Returns the values of `name` (in lower case), in their order. */
export function valuesOf(raw: RawHeaders, name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const own = raw[index] as string;
    if (own.length === name.length && own.toLowerCase() === name) values.push(raw[index + 1] as string);
  }
  return values;
}

/** Returns `raw` without the headers whose names (in lower case) are in `names`. */
export function withoutHeaders(raw: RawHeaders, names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    if (!names.has(name.toLowerCase())) kept.push(name, raw[index + 1] as string);
  }
  return kept;
}

/** Headers that end here, also those that `Connection` should list and does not. `Trailer` describes the message. */
const endingHeaders = [...requestConnectionHeaders, "http2-settings", "proxy-authentication-info"];

/** Returns the names of the connection headers of `raw`, including those that `Connection` lists. */
export function connectionOptions(raw: RawHeaders): ReadonlySet<string> {
  const listed = valuesOf(raw, "connection").flatMap((value) =>
    value.split(",").map((name) => name.trim().toLowerCase()),
  );
  return new Set([...endingHeaders, ...listed]);
}
