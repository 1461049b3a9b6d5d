/** Calls of the tools of `writePair`, through the gateway and through the standalone engine. */

import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { benignNames, caseHost, hostileValues, redirectTargets, waitUntil } from "@toolcrib/testing";
import { forEachOf, type HostSetting } from "./host-setting.ts";

/** The outcome of a call. */
export interface CallOutcome {
  readonly isError: boolean;
  /** The code of a refusal. */
  readonly code: string;
  readonly text: string;
}

/** Calls a tool by its name in the toolspec. */
export type CallTool = (name: string, args: { readonly [name: string]: unknown }) => Promise<CallOutcome>;

/** Creates calls through `client`. */
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

/** A value in one position of a request. */
interface ValueCase {
  readonly tool: string;
  readonly args: { readonly [name: string]: string };
  /** The expected form of the path, if the request is sent. */
  readonly form: RegExp;
}

/** Each hostile value in each position that an argument fills. */
export const valueCases: readonly ValueCase[] = hostileValues.flatMap((value): ValueCase[] => [
  { tool: "get_item", args: { id: value }, form: /^\/items\/[^/?#\\]+$/ },
  { tool: "get_item", args: { id: "1", q: value }, form: /^\/items\/1\?q=[^/?#\\&]*$/ },
  { tool: "get_item", args: { id: "1", "X-Note": value }, form: /^\/items\/1$/ },
  { tool: "get_file", args: { path: value }, form: /^\/files\/(?:[^/?#\\]+\/)*[^/?#\\]+$/ },
  { tool: "add_item", args: { text: value }, form: /^\/items$/ },
]);

/** Calls each of `cases`, and checks that sent requests have the form of their template. */
export async function checkValues(
  call: CallTool,
  setting: HostSetting,
  cases: readonly ValueCase[],
): Promise<void> {
  // Sequentially, so that each request can be assigned to its case.
  for (const { tool, args, form } of cases) {
    const before = setting.server.requests.length;
    const { isError, text } = await call(tool, args);
    const sent = setting.server.requests.slice(before);
    assert.equal(sent.length, isError ? 0 : 1, `${JSON.stringify(args)}: ${text}`);
    for (const { target } of sent) assert.match(target, form, JSON.stringify(args));
  }
}

/** Redirects to each of `targets`, and checks that no request reaches another host. */
export async function checkRedirects(call: CallTool, targets: readonly string[]): Promise<void> {
  await forEachOf(targets, async (target) => {
    const { text, code } = await call("redirect", { case: redirectTargets.indexOf(target) });
    // The redirect was not followed, stayed on the host, or the proxy reported an invalid response.
    const isFollowed = text.startsWith("{}");
    const isRefused = /^\[redirects|\n\[redirects|^\[its address/.test(text) || code !== "";
    const isEmpty = text === "" || /^HTTP (?:302|502) /.test(text);
    assert.ok(isFollowed || isRefused || isEmpty, `${JSON.stringify(target)}: ${code} ${text}`);
    // A line break ends the header; the text after it is another header.
    const [location = ""] = target.split(/[\r\n]/);
    if (isFollowed) assert.equal(new URL(location, `https://${caseHost}/`).host, caseHost, target);
  });
}

/** Calls the tool `benign_N` of each benign host. */
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

/** Calls the tools `text_N`, whose hosts are `texts`, and checks that nothing is sent. */
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

/** Repeats a call until it succeeds, because its server may not be ready yet. */
export async function untilServed(call: CallTool): Promise<void> {
  await waitUntil(async () => !(await call("add_item", { text: "" })).isError, {
    timeoutMs: 120_000,
    intervalMs: 50,
    what: "the tools are served",
  });
}
