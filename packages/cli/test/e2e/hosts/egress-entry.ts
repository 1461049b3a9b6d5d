/** Programs that run under `toolcrib egress`: the foreign client, and curl if it is installed. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostCases, type ProcessOutcome, runProcess } from "@toolcrib/testing";
import { runToolcrib } from "../../transcript.ts";
import type { ForeignOutcome, ForeignRow } from "./foreign-cases.ts";
import { type HostSetting, pairOf } from "./host-setting.ts";

/** Returns the arguments of `toolcrib egress` before its program, and writes a manifest into `folder`. */
export function egressArguments(setting: HostSetting, folder: string): readonly string[] {
  const file = setting.directory.join(`${folder}-manifest.yaml`);
  writeFileSync(file, pairOf([]).manifest);
  return [
    "egress",
    ...["--manifest", file, "--ca-file", setting.caFile, "--internal-range", `${setting.address}/32`],
    ...Object.entries(setting.connectTo).flatMap(([host, to]) => ["--connect-to", `${host}=${to}`]),
    "--",
  ];
}

function runBehind(setting: HostSetting, entry: string, program: readonly string[]): Promise<ProcessOutcome> {
  return runToolcrib([...egressArguments(setting, entry), ...program], {
    directory: setting.directory.path,
    env: setting.watched(entry),
  });
}

/** Sends all `rows` to the proxy. */
export async function checkForeign(
  setting: HostSetting,
  entry: string,
  rows: readonly ForeignRow[],
): Promise<void> {
  const file = setting.directory.join(`${entry}.json`);
  writeFileSync(file, JSON.stringify(rows.map(({ say }) => say)));
  const client = join(import.meta.dirname, "foreign-client.ts");
  const { stdout, stderr, code } = await runBehind(setting, entry, [process.execPath, client, file]);
  assert.equal(code, 0, stderr);
  const outcomes = JSON.parse(stdout) as readonly ForeignOutcome[];
  assert.equal(outcomes.length, rows.length);
  const wrong = rows.flatMap(({ title, isRight }, index) => {
    const outcome = outcomes[index] ?? "closed";
    return isRight(outcome) ? [] : [`${JSON.stringify(title.slice(0, 200))}: ${outcome}`];
  });
  assert.deepEqual(wrong, []);
}

/** Returns whether curl is installed. */
export async function hasCurl(): Promise<boolean> {
  return (await runProcess("curl", ["--version"])).code === 0;
}

/** URLs that a configuration file of curl can contain. */
export const curlUrls: readonly string[] = hostCases
  .map(({ url }) => url)
  .filter((url) => url !== "" && url.length < 2000 && !url.includes("\0") && !/^(?:file|data):/.test(url));

/** Runs curl with each of `urls`. @returns the number of URLs that it fetched */
export async function fetchByCurl(
  setting: HostSetting,
  entry: string,
  urls: readonly string[],
): Promise<number> {
  const file = setting.directory.join(`${entry}.curlrc`);
  const quote = (text: string) =>
    text
      .replace(/[\\"]/g, "\\$&")
      .replaceAll("\n", "\\n")
      .replaceAll("\r", "\\r")
      .replaceAll("\t", "\\t")
      .replaceAll("\v", "\\v");
  const transfers = urls.map((url) => `url = "${quote(url)}"\noutput = "/dev/null"\n`);
  const settings = 'silent\nglobboff\npath-as-is\nmax-time = 10\nwrite-out = "%{http_code}\\n"\n';
  writeFileSync(file, settings + transfers.join(""));
  const { stdout } = await runBehind(setting, entry, ["curl", "--config", file]);
  return stdout.split("\n").filter((line) => line === "200").length;
}
