/** Runs the transcript of the root README, whose output must match. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeTemporaryDirectory, runProcess, waitUntil } from "@toolcrib/testing";
import { commandLine } from "../transcript.ts";
import { quickstartConfig, serveGateway } from "./gateway-process.ts";

const readme = readFileSync(join(import.meta.dirname, "../../../../README.md"), "utf8");

/** Commands of the transcript with their expected output. */
function transcript(): { readonly command: string; readonly output: string }[] {
  const block = /```console\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...lines] = part.split("\n");
      return { command, output: lines.join("\n").trim() };
    });
}

/** Returns whether `output` matches `expected`, in which `...` stands for any text, also over several lines. Column widths may differ. */
function matches(output: string, expected: string): boolean {
  const narrow = (text: string) => text.replace(/ {2,}/g, "  ");
  const pieces = narrow(expected)
    .split("...")
    .map((piece) => piece.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[\\s\\S]*?")}\\s*$`).test(narrow(output).trim());
}

describe("the README's transcript", () => {
  it("matches the output of the commands", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    await using gateway = await serveGateway(quickstartConfig, home);
    await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
    const commands = transcript();
    assert.ok(commands.length >= 5);
    for (const { command, output } of commands) {
      assert.match(command, /^npx toolcrib /);
      const words = [...command.matchAll(/'([^']*)'|(\S+)/g)]
        .map((match) => match[1] ?? match[2] ?? "")
        .slice(2);
      const { stdout, stderr } = await runProcess(process.execPath, [...commandLine, ...words], {
        env: { TOOLCRIB_HOME: home, NO_COLOR: "1" },
      });
      const expected = output.replaceAll("http://127.0.0.1:7420", gateway.baseUrl);
      assert.ok(
        matches(`${stdout}${stderr}`, expected),
        `${command}\n--- expected\n${expected}\n--- got\n${stdout}${stderr}`,
      );
    }
  });
});
