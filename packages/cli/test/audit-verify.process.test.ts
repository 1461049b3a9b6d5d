/** `toolcrib audit verify`, while a gateway writes and after it. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

test("audit verify finds nothing in a trail as it was written, and a changed record in one that was not", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = {
    tool_servers: [echoServer("echo", "--builtin", "echo")],
    serve: { listen: "127.0.0.1:0" },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  assert.equal((await runToolcrib(["audit", "verify"], setting)).stdout, "No records.\n");
  {
    await using gateway = await startServe([], setting);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    assert.equal((await runToolcrib(["call", "echo__echo", "--arg", "text=a"], setting)).code, 0);
    const { code, stdout } = await runToolcrib(["audit", "verify"], setting);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /The chain is intact: \d+ records/);
  }
  const { code, stdout } = await runToolcrib(["audit", "verify", "--json"], setting);
  const report = JSON.parse(stdout);
  assert.deepEqual([code, report.isIntact, report.findings], [0, true, []]);
  assert.equal(report.writers[0].provedSequence, report.writers[0].lastSequence);

  const folder = directory.join(".toolcrib/audit");
  const [name = ""] = readdirSync(folder);
  const path = `${folder}/${name}`;
  writeFileSync(path, readFileSync(path, "utf8").replace('"tool":"echo:echo"', '"tool":"echo:ekho"'));
  const changed = await runToolcrib(["audit", "verify"], setting);
  assert.equal(changed.code, 1);
  assert.match(
    changed.stdout,
    /FOUND 001-00000001\.jsonl:\d+: record \d+ does not follow the line before it/,
  );
});

test("audit verify --anchor compares the trail with the anchors of the gateway", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = { serve: { listen: "127.0.0.1:0" }, audit: { anchor: { file: "anchors.jsonl" } } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  const verify = ["audit", "verify", "--anchor", "anchors.jsonl"];
  assert.match((await runToolcrib(verify, setting)).stderr, /Cannot read anchor file/);
  {
    await using _gateway = await startServe([], setting);
  }
  const { code, stdout } = await runToolcrib(verify, setting);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /Anchors that match: 1 of 1/);
  const path = directory.join("anchors.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").replace(/"hash":"./, '"hash":"x'));
  const changed = await runToolcrib(verify, setting);
  assert.equal(changed.code, 1);
  assert.match(changed.stdout, /FOUND .*anchors\.jsonl:1: record \d+ of writer 001 is not the one/);
  const doctor = await runToolcrib(["doctor"], setting);
  assert.match(doctor.stdout, /anchor: the signed ends of the trail are appended to .*anchors\.jsonl/);
});

test("audit verify finds a trail that was removed, and an anchor file that proves nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [echoServer("echo", "--builtin", "echo")] }),
  );
  const setting = { directory: directory.path };
  assert.equal((await runToolcrib(["call", "echo__echo", "--arg", "text=a"], setting)).code, 0);
  writeFileSync(directory.join("anchors.jsonl"), "");
  const empty = await runToolcrib(["audit", "verify", "--anchor", "anchors.jsonl"], setting);
  assert.equal(empty.code, 5);
  assert.match(empty.stderr, /anchors\.jsonl" has no anchor: it proves nothing/);
  for (const name of ["audit", "audit-heads"]) rmSync(directory.join(".toolcrib", name), { recursive: true });
  const { code, stdout } = await runToolcrib(["audit", "verify"], setting);
  assert.equal(code, 1, stdout);
  assert.match(stdout, /FOUND: the signed list of writers .* is missing/);
});

test("audit verify names what a crash left in the middle of a write, and finds nothing in it", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  assert.equal((await runToolcrib(["pause", "all"], setting)).code, 0);
  const path = directory.join(".toolcrib/audit/001-00000001.jsonl");
  appendFileSync(path, '{"specversion":"1.0","id":"x');
  const { code, stdout } = await runToolcrib(["audit", "verify"], setting);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /Unfinished: 001-00000001\.jsonl:3 has 28 bytes of a record; a process was killed/);
  assert.match(stdout, /The chain is intact: 2 records/);
});

test("audit verify --accept puts what a start found on record, and finds new damage again", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const path = directory.join(".toolcrib/audit/001-00000001.jsonl");
  const cutOff = () => {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    truncateSync(path, Buffer.byteLength(`${lines.slice(0, -1).join("\n")}\n`));
  };
  for (const command of ["pause", "resume"])
    assert.equal((await runToolcrib([command, "all"], setting)).code, 0);
  assert.match(
    (await runToolcrib(["audit", "verify", "--accept", "x"], setting)).stdout,
    /nothing to accept/,
  );
  cutOff();
  // The next command that writes signs what it finds, and says so.
  const started = await runToolcrib(["pause", "all"], setting);
  assert.match(
    started.stderr,
    /The audit trail is not what was signed before: the records up to 3 were signed/,
  );
  const found = await runToolcrib(["audit", "verify"], setting);
  assert.equal(found.code, 1);
  assert.match(found.stdout, /FOUND 001-00000001\.jsonl:3: a start found that .* and the last one was 2/);
  assert.match(found.stdout, /^Not intact: 1 finding$/m);
  assert.match(found.stderr, /--accept REASON/);
  const doctor = await runToolcrib(["doctor"], setting);
  assert.match(doctor.stdout, /audit: a start found at .* that the trail was not what was signed before/);

  assert.match((await runToolcrib(["audit", "verify", "--accept", " "], setting)).stderr, /needs a reason/);
  const both = ["audit", "verify", "--accept", "x", "--anchor", "anchors.jsonl"];
  assert.match((await runToolcrib(both, setting)).stderr, /What anchors show cannot be accepted/);
  const accepted = await runToolcrib(["audit", "verify", "--accept", "I cut it off myself"], setting);
  assert.equal(accepted.code, 0, accepted.stderr);
  assert.match(accepted.stdout, /ACCEPTED 001-00000001\.jsonl:3: a start found/);
  assert.doesNotMatch(accepted.stdout, /Accepted earlier/);
  const intact = await runToolcrib(["audit", "verify"], setting);
  assert.equal(intact.code, 0);
  assert.match(intact.stdout, /Apart from 1 accepted finding, the chain is intact: \d+ records/);
  assert.match(intact.stdout, /Accepted earlier, and not shown: 1 finding /);
  const healthy = await runToolcrib(["doctor"], setting);
  assert.match(healthy.stdout, /✓ audit: apart from 1 accepted finding, the chain is intact/);
  const list = await runToolcrib(["audit", "list"], { ...setting, env: { COLUMNS: "200" } });
  assert.match(list.stdout, /audit\.accepted .*cli .*1 finding: I cut it off myself/);
  const proved = ["audit", "export", "-o", "trail.jsonl", "--proof", "proof.json"];
  assert.equal((await runToolcrib(proved, setting)).code, 0);
  const exported = ["audit", "verify", "--export", "trail.jsonl", "--proof", "proof.json"];
  const judged = await runToolcrib(exported, setting);
  assert.equal(judged.code, 0, judged.stdout);
  assert.match(judged.stdout, /ACCEPTED .*: a start found .*\n {2}accepted at 20\S+Z: I cut it off myself\n/);
  cutOff();
  assert.equal((await runToolcrib(["audit", "verify"], setting)).code, 1);
});

test("doctor finds what was changed in the trail, as audit verify does", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const path = directory.join(".toolcrib/audit/001-00000001.jsonl");
  for (const command of ["pause", "resume"])
    assert.equal((await runToolcrib([command, "all"], setting)).code, 0);
  assert.match((await runToolcrib(["doctor"], setting)).stdout, /✓ audit: the chain is intact/);
  writeFileSync(path, readFileSync(path, "utf8").replace("guard.paused", "guard.ruined"));
  const { code, stdout } = await runToolcrib(["doctor"], setting);
  assert.equal(code, 1, stdout);
  assert.match(stdout, /✗ audit: \d findings? in the trail, the first in 001-00000001\.jsonl:\d: record/);
  assert.match(stdout, /fix: +toolcrib audit verify shows what was changed/);
});

test("audit verify --accept says that it accepts no signature that a running gateway writes again", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve: { listen: "127.0.0.1:0" } }));
  const setting = { directory: directory.path };
  for (const command of ["pause", "resume"])
    assert.equal((await runToolcrib([command, "all"], setting)).code, 0);
  await using _gateway = await startServe([], setting);
  const head = directory.join(".toolcrib/audit-heads/001.json");
  // The gateway can sign it again before the command reads it.
  let refused: Awaited<ReturnType<typeof runToolcrib>> | undefined;
  await waitUntil(async () => {
    writeFileSync(head, readFileSync(head, "utf8").replace('"signature":"', '"signature":"A'));
    refused = await runToolcrib(["audit", "verify", "--accept", "x"], setting);
    return refused.code === 1;
  });
  assert.match(refused?.stdout ?? "", /^Nothing was accepted\.\n[\s\S]*\nNot intact: 1 finding\n/);
  assert.doesNotMatch(refused?.stdout ?? "", /nothing to accept/);
  assert.match(refused?.stderr ?? "", /a running gateway signs its end again within a minute/);
});

test("audit verify --export verifies an export and its proof without the home", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(["audit", ...words], setting);
  for (const command of ["pause", "resume"])
    assert.equal((await runToolcrib([command, "all"], setting)).code, 0);
  const exported = ["export", "-o", "trail.jsonl", "--proof", "proof.json"];
  const { code, stdout } = await run(...exported);
  assert.equal(code, 0, stdout);
  const [, key = ""] =
    /^The proof in .*proof\.json is signed with the key (sha256:[0-9a-f]{64})$/m.exec(stdout) ?? [];
  assert.match((await run(...exported)).stderr, /proof\.json" exists/);
  for (const words of [
    ["--since", "1h"],
    ["--format", "csv"],
    ["--tool", "*"],
  ])
    assert.match(
      (await run("export", "--proof", "other.json", ...words)).stderr,
      /--proof is of all records/,
    );
  assert.match((await run("export", "-o", "x", "--proof", "x")).stderr, /name the same file/);
  // Neither file without the other: the folder of the proof is missing, or a folder is in its place.
  mkdirSync(directory.join("folder"));
  for (const proof of ["none/p.json", "folder"])
    for (const output of [["-o", "x"], []]) {
      const failed = await run("export", ...output, "--proof", proof, "--force");
      assert.match(failed.stderr, /FILE_UNWRITABLE: Cannot write ".*(none.p\.json|folder)": it /);
      assert.equal(failed.stdout, "");
      assert.equal(existsSync(directory.join("x")), false);
    }
  for (const output of ["none/x", "folder"]) {
    const failed = await run("export", "-o", output, "--proof", "p.json", "--force");
    assert.match(failed.stderr, /FILE_UNWRITABLE/);
    assert.equal(existsSync(directory.join("p.json")), false);
  }
  const printed = await run("export", "--proof", "printed.json");
  assert.equal(printed.stdout, readFileSync(directory.join("trail.jsonl"), "utf8"));
  assert.match(printed.stderr, new RegExp(`The proof in .*printed\\.json is signed with the key ${key}`));
  rmSync(directory.join(".toolcrib"), { recursive: true });

  const verify = ["verify", "--export", "trail.jsonl"];
  assert.equal((await run(...verify, "--proof", "printed.json", "--key", key)).code, 0);
  const chain = await run(...verify);
  assert.match(chain.stdout, /The records follow each other: 3 records\nNothing is signed without --proof/);
  const unvouched = await run(...verify, "--proof", "proof.json");
  assert.equal(unvouched.code, 0, unvouched.stdout);
  assert.match(
    unvouched.stdout,
    /as it was when its ends were signed: 3 records\nExported at 20.*Z\n.* nobody vouched for: sha256:/,
  );
  const vouched = await run(...verify, "--proof", "proof.json", "--key", key);
  assert.match(vouched.stdout, /Signed with the key that you named: sha256:/);
  const path = directory.join("trail.jsonl");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.split("\n").slice(0, -2).join("\n"));
  const cut = await run(...verify, "--proof", "proof.json", "--key", key);
  assert.equal(cut.code, 1);
  assert.match(
    cut.stdout,
    /FOUND .*trail\.jsonl:2: the records up to 3 were signed at .* last one here is 2/,
  );
  assert.match(cut.stdout, /FOUND .*trail\.jsonl: it is not the export of the proof: its 2 records /);
  assert.match(cut.stderr, /only an export without --since/);
  writeFileSync(path, text.split("\n").slice(1).join("\n"));
  const begun = await run(...verify);
  assert.equal(begun.code, 0, begun.stdout);
  assert.match(begun.stdout, /\nBefore record 2 of writer 001, nothing is known without --proof: retention /);
  assert.doesNotMatch(chain.stdout, /Before record/);
  const proof = readFileSync(directory.join("proof.json"), "utf8");
  writeFileSync(directory.join("unsigned.json"), proof.replace('"signature":"', '"signature":"A'));
  const unsigned = await run(...verify, "--proof", "unsigned.json", "--key", key);
  assert.match(unsigned.stdout, /FOUND: the proof has a wrong signature: it was changed/);
  assert.doesNotMatch(unsigned.stdout, /Signed with|Exported at/);
  assert.match((await run(...verify, "--key", key)).stderr, /--key needs --proof/);
  assert.match((await run(...verify, "--accept", "x")).stderr, /are about the trail of a home/);
  assert.match((await run("verify", "--proof", "proof.json")).stderr, /need --export/);
  const other = await run("verify", "--export", "none", "--proof", "trail.jsonl");
  assert.match(other.stderr, /AUDIT_UNREADABLE: Cannot read the proof ".*trail\.jsonl": /);
});

test("audit export --proof warns where the trail is not intact, and writes the export and its proof", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(["audit", ...words], setting);
  for (const command of ["pause", "resume"])
    assert.equal((await runToolcrib([command, "all"], setting)).code, 0);
  const intact = await run("export", "-o", "intact.jsonl", "--proof", "intact.json");
  assert.equal(intact.stderr, "");
  const path = directory.join(".toolcrib/audit/001-00000001.jsonl");
  writeFileSync(path, readFileSync(path, "utf8").replace('"type":"guard.paused"', '"type":"guard.resumed"'));
  const changed = await run("export", "-o", "trail.jsonl", "--proof", "proof.json");
  assert.equal(changed.code, 0, changed.stderr);
  assert.match(
    changed.stderr,
    /^warning: the trail is not intact \(\d findings?\): the proof is signed all the same; audit verify --export finds what is wrong in the exported records, .*; see \S+.* audit verify\n$/,
  );
  const verified = await run("verify", "--export", "trail.jsonl", "--proof", "proof.json");
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /FOUND .*trail\.jsonl:\d: record \d does not follow the line before it/);
});

test("audit export --proof says that what is wrong outside of the exported records is found only in the home", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(["audit", ...words], setting);
  assert.equal((await runToolcrib(["pause", "all"], setting)).code, 0);
  // A record after the signed end, which does not follow the one before it.
  const path = directory.join(".toolcrib/audit/001-00000001.jsonl");
  const text = readFileSync(path, "utf8");
  const last = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  const later = { ...last, id: `${last.id}0`, sequence: String(Number(last.sequence) + 2).padStart(16, "0") };
  writeFileSync(path, `${text}${JSON.stringify(later)}\n`);
  const home = await run("verify");
  assert.equal(home.code, 1, home.stdout);
  const exported = await run("export", "-o", "trail.jsonl", "--proof", "proof.json");
  assert.match(
    exported.stderr,
    /^warning: .*, and the rest is found only in the home; see /,
    exported.stdout,
  );
  const verified = await run("verify", "--export", "trail.jsonl", "--proof", "proof.json");
  assert.equal(verified.code, 0, verified.stdout);
});

test("audit verify --export names the form in which another program stored the file", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(["audit", ...words], setting);
  assert.equal((await runToolcrib(["pause", "all"], setting)).code, 0);
  assert.equal((await run("export", "-o", "trail.jsonl")).code, 0);
  const bytes = readFileSync(directory.join("trail.jsonl"));
  const text = bytes.toString();
  const forms: readonly (readonly [Buffer, RegExp])[] = [
    [gzipSync(bytes), /it is compressed \(gzip\)\nhint: unpack it first/],
    [Buffer.from(`\ufeff${text}`), /it begins with a byte order mark .*\nhint: .*tail -c \+4/],
    [Buffer.from(text.replaceAll("\n", "\r\n")), /its lines end with CRLF.*\nhint: .*tr -d '\\r'/],
    [Buffer.from(`\ufeff${text}`, "utf16le"), /it is UTF-16.*\nhint: .*audit export --output/],
  ];
  for (const [content, expected] of forms) {
    writeFileSync(directory.join("other.jsonl"), content);
    const { code, stderr, stdout } = await run("verify", "--export", "other.jsonl");
    assert.match(stderr, expected);
    assert.match(stderr, /error AUDIT_UNREADABLE: Cannot read the export "/);
    assert.deepEqual([code, stdout], [5, ""]);
  }
  assert.equal((await run("verify", "--export", "none.jsonl")).code, 5);
  assert.equal((await run("verify", "--export", "trail.jsonl")).code, 0);
});
