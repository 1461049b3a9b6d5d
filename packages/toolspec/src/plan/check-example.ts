/** Compares an example of a toolspec with the request that its arguments produce. */

import { canonicalJson } from "@toolcrib/json";
import type { ToolspecExample } from "../spec/toolspec.ts";
import type { RequestPlan } from "./plan-request.ts";
import { readJsonBody } from "./write-body.ts";

/** One part of a request that differs from the example. */
export interface ExampleDifference {
  /** `method`, `url`, `body`, or `headers.` followed by a name. */
  readonly part: string;
  readonly expected: string;
  readonly actual: string;
}

/** Returns the differences between `plan` and the request of `example`. */
export function compareExample(example: ToolspecExample, plan: RequestPlan): readonly ExampleDifference[] {
  const { method, url, headers = {}, body } = example.request;
  const differences: ExampleDifference[] = [];
  const compare = (part: string, expected: string, actual: string) => {
    if (expected !== actual) differences.push({ part, expected, actual });
  };
  if (method !== undefined) compare("method", method, plan.method);
  compare("url", url, plan.url);
  const sent = new Map(Object.entries(plan.headers).map(([name, value]) => [name.toLowerCase(), value]));
  for (const [name, value] of Object.entries(headers))
    compare(`headers.${name}`, value, sent.get(name.toLowerCase()) ?? "");
  if (body !== undefined) {
    const text = new TextDecoder().decode(plan.body ?? new Uint8Array());
    const json = typeof body === "string" ? undefined : readJsonBody(text);
    if (json === undefined) compare("body", typeof body === "string" ? body : canonicalJson(body), text);
    else compare("body", canonicalJson(body), canonicalJson(json));
  }
  return differences;
}
