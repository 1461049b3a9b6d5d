/** A sandbox sees every program that a command starts: servers, composites, and the program of `toolcrib egress`. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { main } from "@toolcrib/cli";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { cleanEnvironment, echoServer } from "./transcript.ts";

/** Runs a command in this process, and returns the programs that it started, with the base names of their arguments. */
async function run(directory: TemporaryDirectory, ...args: readonly string[]) {
  const programs: string[] = [];
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const output = Promise.all([text(stdout), text(stderr)]);
  const { signal } = new AbortController();
  const context: Parameters<typeof main>[0] = {
    args,
    env: cleanEnvironment(directory.path),
    directory: directory.path,
    userDirectory: directory.path,
    platform: process.platform,
    stdin: new PassThrough().end(),
    stdout,
    stderr,
    now: Date.now,
    signal,
    interceptSignals: () => ({ [Symbol.dispose]() {} }),
    outputClosed: signal,
    wrap(request) {
      programs.push([request.program, ...request.args].map((argument) => basename(argument)).join(" "));
      // A program of its own that becomes the requested one, as a sandbox does.
      return {
        ...request,
        program: "/bin/sh",
        args: ["-c", 'exec "$0" "$@"', request.program, ...request.args],
      };
    },
  };
  const exitCode = await main(context);
  stdout.end();
  stderr.end();
  return { exitCode, programs, output: (await output).join("") };
}

const manifest = `
schemaVersion: 1
name: acme
version: 1.0.0
source: { repo: https://github.com/acme/acme, tag: v1.0.0 }
image: { ref: ghcr.io/acme/acme, digest: "sha256:${"0".repeat(64)}", entrypoint: /app/server }
tier: sealed
entitlements: { egress: [api.example.com] }
credentials: []
tools: [{ name: get, default: true }]
`;

test("toolcrib egress starts its program through the sandbox", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("manifest.yaml"), manifest);
  const egress = await run(directory, "egress", "--manifest", "manifest.yaml", "--", "sh", "-c", "exit 7");
  assert.deepEqual([egress.exitCode, egress.programs], [7, ["sh -c exit 7"]], egress.output);
});

test("commands start servers and isolated composites through the sandbox", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = {
    tool_servers: [echoServer("echo")],
    execution: { isolation: "process", maxMemory: "32MB" },
  };
  const path = directory.join("toolcrib.yaml");
  writeFileSync(path, JSON.stringify(config));
  const call = await run(
    directory,
    "--config",
    path,
    "call",
    "eval_starlark",
    '{"code":"return echo.echo(text=\'x\')"}',
  );
  assert.equal(call.exitCode, 0, call.output);
  assert.ok(
    call.programs.some((program) => /echo-stdio/.test(program)),
    call.programs.join("\n"),
  );
  assert.ok(
    call.programs.some((program) => /child-process\.[jt]s$/.test(program)),
    call.programs.join("\n"),
  );
  const doctor = await run(directory, "--config", path, "doctor");
  assert.ok(
    doctor.programs.some((program) => /echo-stdio/.test(program)),
    doctor.output,
  );
});
