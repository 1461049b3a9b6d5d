/**
 * `toolcrib test --record`: writes what the tests of a package in a folder received into their files, and what no
 * recording has been made of. Only a test that passed is recorded, so that a recording shows the tool at work.
 */

import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import { errnoOf, readRegularFile, reasonOf, replaceFile } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";
import { programsOf, signaturePath, type ToolPackage } from "@toolcrib/mcpkg";
import type { TestResult } from "@toolcrib/mcpkg-runtime";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { asTyped } from "../serve/source-table.ts";
import type { TestTarget } from "./test-target.ts";

/** Bytes of a test with its recording. */
const testMaxBytes = 4 * 1024 * 1024;

/** @throws {CliError} `CLI_USAGE` for a package whose tests cannot be recorded */
export function requireRecordable({ found, folder }: TestTarget): string {
  const { manifest } = found;
  if (folder === undefined) {
    throw new CliError("CLI_USAGE", "--record writes into the tests of a package in a folder", {
      hint: "name the folder of the package, and pack and sign it again afterwards",
    });
  }
  if (programsOf(manifest).length > 0) {
    throw new CliError("CLI_USAGE", `--record does not record the calls of the program ${manifest.toolId}`, {
      hint: "record them with the saved tool: toolcrib saved test NAME --record, then toolcrib saved publish",
    });
  }
  return folder;
}

/** Writes the recordings of `results`, and says what was not recorded. */
export async function writeRecordings(
  context: CliContext,
  folder: string,
  { files }: ToolPackage,
  results: readonly TestResult[],
): Promise<void> {
  const { output } = context;
  const missing: string[] = [];
  let written = 0;
  for (const { path, outcome, recording = {} } of results) {
    const { exchanges = [], replies = [] } = recording;
    if (outcome !== "passed") {
      missing.push(path);
      continue;
    }
    if (exchanges.length + replies.length === 0) {
      output.note(`${safeLine(path)} was not changed: its call made no request and called no other tool`);
      continue;
    }
    await writeRecording(join(folder, ...path.split("/")), path, recording);
    written += 1;
    output.print(
      `Recorded ${safeLine(path)}: ${[
        ...(exchanges.length === 0 ? [] : [counted(exchanges.length, "response")]),
        ...(replies.length === 0 ? [] : [`${replies.length} ${replies.length === 1 ? "reply" : "replies"}`]),
      ].join(", ")}`,
    );
  }
  if (written > 0 && files.has(signaturePath)) {
    output.note(
      asTyped(
        "The signature of the package is not for the changed tests: sign it again with toolcrib sign",
        context,
      ),
    );
  }
  if (missing.length > 0) {
    output.note(
      `NOT RECORDED: ${missing.map(safeLine).join(", ")} did not pass. Their files are as they were; fix the tests or the tool, and record again`,
    );
  }
}

async function writeRecording(
  file: string,
  path: string,
  recording: NonNullable<TestResult["recording"]>,
): Promise<void> {
  const fail = (reason: string, cause?: unknown) =>
    new CliError("CLI_FILE_UNUSABLE", `Cannot record "${path}": ${reason}`, { cause });
  let text: string;
  try {
    const { bytes } = await readRegularFile(resolve(file), testMaxBytes);
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fail(errnoOf(cause) === undefined ? "it is no UTF-8 text" : reasonOf(cause), cause);
  }
  let test: unknown;
  try {
    test = parseJson(text, { maxLength: testMaxBytes, maxDepth: 64 });
  } catch (cause) {
    throw fail("it is no plain JSON", cause);
  }
  if (!isJsonObject(test)) throw fail("it is no object");
  const { exchanges: _exchanges, replies: _replies, ...others } = test;
  const recorded = `${JSON.stringify({ ...others, ...recording }, undefined, 2)}\n`;
  if (recorded.length > testMaxBytes) throw fail(`its recording has more than ${testMaxBytes} characters`);
  await replaceFile({ randomBytes }, file, recorded, { mode: 0o644, keepPermissions: true });
}
