/**
 * Runs the guides: writes the files that they show, and runs the commands of their
 * transcripts in order, with the servers of the quickstart. The output must match.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { commandLine, quickstartConfig } from "./gateway-process.ts";

const guides = join(import.meta.dirname, "../../../../docs/guides");

/** A step of a guide: a file to write, or a command with its expected output. */
type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "command"; readonly words: readonly string[]; readonly output: string };

/** Matches transcripts, and code blocks with a file name after their language. */
function stepsOf(guide: string): readonly Step[] {
  const text = readFileSync(join(guides, guide), "utf8");
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].flatMap((match): readonly Step[] => {
    const [, language, name, body = ""] = match;
    if (name !== undefined) return [{ kind: "file", name, text: body }];
    return language === "console" ? commandsIn(body) : [];
  });
}

function commandsIn(transcript: string): readonly Step[] {
  return transcript
    .split(/^\$ npx toolcrib /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...lines] = part.split("\n");
      const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
      return { kind: "command", words, output: lines.join("\n").trim() };
    });
}

/** Returns whether all lines of `expected` are printed. Their order is not compared, because output and result use different streams. */
function matches(printed: string, expected: string): boolean {
  const pieces = expected.split(/^\.\.\.$/m).map((piece) => piece.trim());
  return (
    pieces.every((piece) => printed.includes(piece)) && (pieces.length > 1 || printed.trim() === expected)
  );
}

describe("the guides", () => {
  // The other guides have no transcripts: they show parts of files, and commands one by one.
  for (const guide of ["first-composite-tool.md", "registry.md", "rest-apis-as-tools.md"]) {
    it(`${guide} matches the behavior`, async () => {
      const steps = stepsOf(guide);
      assert.ok(steps.length >= 10);
      await using directory = await makeTemporaryDirectory();
      const config = readFileSync(quickstartConfig, "utf8");
      const own = config.replaceAll("/tmp/toolcrib-quickstart", directory.join("memory"));
      writeFileSync(directory.join("toolcrib.yaml"), own);
      cpSync(join(dirname(quickstartConfig), "files"), directory.join("files"), { recursive: true });
      for (const step of steps) {
        if (step.kind === "file") {
          mkdirSync(dirname(directory.join(step.name)), { recursive: true });
          writeFileSync(directory.join(step.name), step.text);
          continue;
        }
        const { stdout, stderr } = await runProcess(process.execPath, [...commandLine, ...step.words], {
          cwd: directory.path,
          env: { TOOLCRIB_HOME: directory.join("home"), NO_COLOR: "1" },
        });
        const printed = `${stderr}${stdout}`.replace(/^\s*\n/gm, "");
        const expected = step.output.replace(/^\s*\n/gm, "");
        assert.ok(
          matches(printed, expected),
          `${step.words.join(" ")}\n--- expected\n${expected}\n--- got\n${printed}`,
        );
      }
    });
  }
});
