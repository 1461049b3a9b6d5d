/** Calls of the tools of `pairOf`, the same through the gateway and through the standalone engine. */

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { benignNames, caseHost, hostileValues, redirectTargets } from "@toolcrib/testing";
import { forEachOf, type HostSetting } from "./host-setting.ts";

/** What a call came to. */
export interface CallOutcome {
  readonly isError: boolean;
  /** The code of a refusal. */
  readonly code: string;
  readonly text: string;
}

/** Calls a tool by its name in the toolspec. */
export type CallTool = (name: string, args: { readonly [name: string]: unknown }) => Promise<CallOutcome>;

/** Calls by `client`. */
export function callsOf(client: Client): CallTool {
  return async (name, args) => {
    const result = await client.callTool({ name, arguments: { ...args } });
    const content = result.content as readonly { readonly text?: string }[];
    return {
      isError: result.isError === true,
      code: String(result._meta?.["toolcrib/code"] ?? ""),
      text: content.map(({ text = "" }) => text).join("\n"),
    };
  };
}

/** A value in one of the places of a request. */
interface ValueCase {
  readonly tool: string;
  readonly args: { readonly [name: string]: string };
  /** The path of the request, where it is sent, has this form. */
  readonly form: RegExp;
}

/** Each hostile value in each place that a call fills. */
export const valueCases: readonly ValueCase[] = hostileValues.flatMap((value): ValueCase[] => [
  { tool: "get_item", args: { id: value }, form: /^\/items\/[^/?#\\]+$/ },
  { tool: "get_item", args: { id: "1", q: value }, form: /^\/items\/1\?q=[^/?#\\&]*$/ },
  { tool: "get_item", args: { id: "1", "X-Note": value }, form: /^\/items\/1$/ },
  { tool: "get_file", args: { path: value }, form: /^\/files\/(?:[^/?#\\]+\/)*[^/?#\\]+$/ },
  { tool: "add_item", args: { text: value }, form: /^\/items$/ },
]);

/** Call with each of `cases`; what is sent has the form of its template. */
export async function checkValues(
  call: CallTool,
  setting: HostSetting,
  cases: readonly ValueCase[],
): Promise<void> {
  // One after the other, so that the request of each is known.
  for (const { tool, args, form } of cases) {
    const before = setting.server.requests.length;
    const { isError, text } = await call(tool, args);
    const sent = setting.server.requests.slice(before);
    assert.equal(sent.length, isError ? 0 : 1, `${JSON.stringify(args)}: ${text}`);
    for (const { target } of sent) assert.match(target, form, JSON.stringify(args));
  }
}

/** Be redirected to each of `targets`; none leads away from the host. */
export async function checkRedirects(call: CallTool, targets: readonly string[]): Promise<void> {
  await forEachOf(targets, async (target) => {
    const { text, code } = await call("redirect", { case: redirectTargets.indexOf(target) });
    // Not followed, led to the same host, or no answer of HTTP any more, with a proxy that says so.
    const isFollowed = text.startsWith("{}");
    const isRefused = /^\[redirects|\n\[redirects|^\[its address/.test(text) || code !== "";
    const isEmpty = text === "" || /^HTTP (?:302|502) /.test(text);
    assert.ok(isFollowed || isRefused || isEmpty, `${JSON.stringify(target)}: ${code} ${text}`);
    // A line break ends the header, and what comes behind it is another.
    const [location = ""] = target.split(/[\r\n]/);
    if (isFollowed) assert.equal(new URL(location, `https://${caseHost}/`).host, caseHost, target);
  });
}

/** Reach each benign host, by its tool `benign_N`. */
export async function checkBenign(call: CallTool, setting: HostSetting): Promise<void> {
  for (const [index, name] of benignNames.entries()) {
    const before = setting.server.requests.length;
    const { isError, text } = await call(`benign_${index}`, {});
    assert.ok(!isError, `${name}: ${text}`);
    assert.deepEqual(
      setting.server.requests.slice(before).map(({ servername }) => servername),
      [name],
    );
  }
}

/** Call the tool `text_N` of each of `texts`, whose host is that text: nothing is sent. */
export async function checkTexts(
  call: CallTool,
  setting: HostSetting,
  texts: readonly string[],
): Promise<void> {
  const before = setting.server.requests.length;
  await forEachOf(texts, async (text, index) => {
    const outcome = await call(`text_${index}`, {});
    assert.match(outcome.code, /^TOOLSPEC_(?:VARIABLE_UNSET|EGRESS_DENIED)$/, `${text}: ${outcome.text}`);
  });
  assert.equal(setting.server.requests.length, before);
}

/** Call until it answers, where what serves it may not be up yet. */
export async function untilServed(call: CallTool): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (!(await call("add_item", { text: "" })).isError) return;
    await delay(50);
  }
  assert.fail("the tools are not served");
}
