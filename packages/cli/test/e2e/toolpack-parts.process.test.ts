/** `toolcrib toolpack fetch`: its downloads, from a mirror on loopback, and its refusals; the engine with a folder. */

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  makeTemporaryDirectory,
  runProcess,
  sampleManifest,
  sampleToolspec,
  writeFiles,
} from "@toolcrib/testing";
import { readPart, runtimeParts } from "@toolcrib/toolpack-image";
import { runToolcrib } from "../transcript.ts";

/** Starts a mirror that answers each path with `answer`, and records the paths. */
async function startMirror(answer: (path: string) => Uint8Array | undefined) {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    const bytes = answer(url);
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/debian/`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A mirror's answer, and the reason that the command prints. */
function checkMirror(title: string, answer: () => Uint8Array | undefined, expected: RegExp): void {
  test(`toolcrib toolpack fetch uses nothing of a mirror with ${title}`, async () => {
    await using directory = await makeTemporaryDirectory();
    await using mirror = await startMirror(answer);
    const args = ["toolpack", "fetch", "--platform", "linux/arm64", "--debian-mirror", mirror.url];
    const { code, stderr } = await runToolcrib(args, {
      directory: directory.path,
      env: { PATH: "/nonexistent" },
    });
    assert.match(stderr, expected);
    assert.equal(code, 1);
    assert.deepEqual(mirror.paths, ["/debian/pool/main/g/glibc/libc6_2.36-9+deb12u14_arm64.deb"]);
    assert(!existsSync(directory.join(".toolcrib/image-parts")));
  });
}

checkMirror(
  "another file",
  () => Buffer.from("!<arch>\n"),
  /^error CLI_FETCH_FAILED: Cannot download libc6 2\.36-9\+deb12u14: 127\.0\.0\.1:\d+ has another file under its name$/m,
);
checkMirror("a longer file", () => Buffer.alloc(3_000_000), /the file is larger than the recorded one/);
checkMirror("no such file", () => undefined, /HTTP 404\nhint: name another mirror of Debian/);

const withoutTools = ["ar", "xz", "tar"].find(
  (name) => !existsSync(`/usr/bin/${name}`) && !existsSync(`/bin/${name}`),
);

test("readPart() reads a package of Debian", {
  skip: withoutTools && `${withoutTools} is not installed`,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const text = "the library\n".repeat(10_000);
  writeFiles(directory.path, {
    "data/usr/lib/libsample.so.1.0": text,
    "data/usr/share/x": "x",
    "debian-binary": "2.0\n",
  });
  const run = async (command: string, ...args: readonly string[]) => {
    const { code, stderr } = await runProcess(command, args, { cwd: directory.path });
    assert.equal(code, 0, stderr);
  };
  await run("tar", "-C", "data", "-cJf", "data.tar.xz", "./usr");
  await run("tar", "-C", "data", "-cJf", "control.tar.xz", "./usr/share");
  await run("ar", "rc", "sample.deb", "debian-binary", "control.tar.xz", "data.tar.xz");
  const archive = readFileSync(directory.join("sample.deb"));
  const part = {
    ...{ name: "sample", version: "1", license: "MIT", purl: "pkg:deb/debian/sample@1" },
    archive: {
      kind: "debian",
      path: "sample.deb",
      sha256: hash("sha256", archive, "hex"),
      bytes: archive.length,
    },
    files: [
      {
        path: "usr/lib/libsample.so.1.0",
        installed: "usr/lib/libsample.so.1",
        sha256: hash("sha256", text, "hex"),
        bytes: text.length,
      },
    ],
  } as const;
  const files = await readPart(part, archive);
  assert.equal(Buffer.from(files.get("usr/lib/libsample.so.1") ?? []).toString(), text);
});

test("a part in the cache that was changed is not used", async () => {
  await using directory = await makeTemporaryDirectory();
  await using mirror = await startMirror(() => undefined);
  const folder = directory.join(".toolcrib/image-parts");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { files } of runtimeParts("linux/arm64")) {
    for (const { sha256, bytes } of files.filter((one) => one.bytes < 10_000_000))
      writeFileSync(`${folder}/${sha256}`, Buffer.alloc(bytes));
  }
  chmodSync(folder, 0o700);
  const args = ["toolpack", "fetch", "--platform", "linux/arm64", "--debian-mirror", mirror.url];
  const { code } = await runToolcrib(args, { directory: directory.path, env: { PATH: "/nonexistent" } });
  assert.equal(code, 1);
  assert.equal(mirror.paths.length, 1);
  assert(readdirSync(folder).length > 5);
});

/** A command line of the engine with a folder, and what it prints. */
function checkFolder(title: string, args: readonly string[], expected: RegExp, env: object = {}): void {
  test(`toolcrib toolpack --folder: ${title}`, async () => {
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory.path, {
      ...Object.fromEntries(
        ["alpha", "beta"].flatMap((name) => [
          [`two/${name}/manifest.yaml`, sampleManifest(name)],
          [`two/${name}/toolspec.yaml`, sampleToolspec(name)],
        ]),
      ),
      "moved/other/manifest.yaml": sampleManifest("alpha"),
      "moved/other/toolspec.yaml": sampleToolspec("alpha"),
      "none/file": "",
    });
    const { stderr, stdout, code } = await runToolcrib(["toolpack", ...args], {
      directory: directory.path,
      env: {
        HTTPS_PROXY: "http://127.0.0.1:9",
        TOOLCRIB_CREDENTIAL_ALPHA_TOKEN: "p",
        TOOLCRIB_CREDENTIAL_BETA_TOKEN: "p",
        ...env,
      },
      stdin: "{}",
    });
    assert.match(`${stderr}${stdout}`, expected);
    assert.notEqual(code, 0);
  });
}

checkFolder(
  "a placeholder is missing",
  ["--folder", "two"],
  /CLI_CREDENTIAL_MISSING: No value for the credential "token": TOOLCRIB_CREDENTIAL_BETA_TOKEN is not set/,
  { TOOLCRIB_CREDENTIAL_BETA_TOKEN: undefined },
);
checkFolder(
  "the proxy of a service is no proxy",
  ["--folder", "two"],
  /CLI_USAGE: TOOLCRIB_PROXY_BETA is not the address of an HTTP proxy/,
  { TOOLCRIB_PROXY_BETA: "socks5://x" },
);
checkFolder(
  "an option names no service",
  ["--folder", "two", "--variable", "tenant=acme"],
  /CLI_USAGE: "tenant" names no service\nhint: .* alpha, beta/,
);
checkFolder(
  "a folder with another service",
  ["--folder", "moved"],
  /The folder ".*other" has the files of "alpha"/,
);
checkFolder("no services", ["--folder", "none"], /"none" has 0 services/);
checkFolder(
  "a folder and files",
  ["--folder", "two", "--manifest", "m"],
  /--folder cannot be used with --manifest/,
);
checkFolder("an unknown tool", ["--folder", "two", "--call", "list_repos"], /Unknown tool: "list_repos"/);
checkFolder(
  "a call of one service",
  ["--folder", "two", "--call", "beta__get_repo"],
  /Parameter "id" of tool "get_repo" is required/,
);
