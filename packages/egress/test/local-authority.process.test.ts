import assert from "node:assert/strict";
import { randomBytes, X509Certificate } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { test } from "node:test";
import { getCACertificates } from "node:tls";
import { createEgress, type Egress, type EgressProxy } from "@toolcrib/egress";
import { createTestAuthority, makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { codeOf, host, patterns } from "./fixture.ts";
import { startProxyFixture } from "./proxy-fixture.ts";

const day = 86_400_000;

function start(
  directory: string,
  now: () => number = Date.now,
  caCertificates: readonly string[] = [],
): Egress {
  return createEgress({ caCertificates }, { directory, now, randomBytes, onEvent: () => {} });
}

function open(egress: Egress): Promise<EgressProxy> {
  return egress.openProxy({ id: "process:test", allow: patterns(host), credentials: [] });
}

function read(file: string): X509Certificate {
  return new X509Certificate(readFileSync(file));
}

test("the authority is created once, for its owner only, and signs only servers by name", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("a/b/egress");
  const extra = createTestAuthority().certificate;
  await using egress = start(folder, Date.now, [extra]);
  const proxy = await open(egress);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(`${folder}/authority.pem`).mode & 0o777, 0o600);
  const certificate = read(proxy.caFile);
  assert.ok(certificate.ca);
  assert.ok(certificate.verify(certificate.publicKey));
  const own = readFileSync(proxy.caFile, "utf8");
  const bundle = readFileSync(proxy.caBundleFile, "utf8");
  for (const one of [own, extra, getCACertificates("default")[0] ?? ""])
    assert.ok(bundle.includes(one.trim()));
  for (const name of readdirSync(folder)) {
    if (name !== "authority.pem") assert.doesNotMatch(readFileSync(`${folder}/${name}`, "utf8"), /PRIVATE/);
  }
  await using again = start(folder, Date.now, [extra]);
  const { caFile, caBundleFile } = await open(again);
  assert.deepEqual([caFile, caBundleFile], [proxy.caFile, proxy.caBundleFile]);
});

test("OpenSSL accepts the authority and its leaves under strict rules", async (context) => {
  await using fixture = await startProxyFixture();
  const probe = await runProcess("openssl", ["version"]);
  if (probe.code !== 0) return context.skip("there is no openssl command here");
  const inside = await fixture.secure();
  const leaf = inside.getPeerX509Certificate();
  assert.ok(leaf !== undefined);
  const file = fixture.directory.join("leaf.pem");
  writeFileSync(file, leaf.toString());
  inside.destroy();
  const strict = ["verify", "-x509_strict", "-CAfile", fixture.proxy.caFile, "-purpose", "sslserver"];
  const good = await runProcess("openssl", [...strict, "-verify_hostname", host, file]);
  assert.equal(good.code, 0, good.stderr);
  const other = await runProcess("openssl", [...strict, "-verify_hostname", "other.example.com", file]);
  assert.notEqual(other.code, 0);
  const client = await runProcess("openssl", [...strict.with(-1, "sslclient"), file]);
  assert.notEqual(client.code, 0);
  const { stdout } = await runProcess("openssl", ["x509", "-in", fixture.proxy.caFile, "-noout", "-text"]);
  assert.match(stdout, /CA:TRUE, pathlen:0/);
  assert.match(stdout, /IP:0\.0\.0\.0\/0\.0\.0\.0\s+IP:0:0:0:0:0:0:0:0\/0:0:0:0:0:0:0:0/);
  return undefined;
});

test("processes that start at the same time end up with one authority", async () => {
  await using directory = await makeTemporaryDirectory();
  const program = `
    import { createEgress } from "@toolcrib/egress";
    import { randomBytes } from "node:crypto";
    await using egress = createEgress({}, { directory: ${JSON.stringify(directory.join("egress"))}, now: Date.now, randomBytes, onEvent() {} });
    await using proxy = await egress.openProxy({ id: "x", allow: [], credentials: [] });
    console.log(proxy.caFile);
  `;
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () =>
      runProcess(
        process.execPath,
        [
          ...process.execArgv.filter((flag) => flag.startsWith("--conditions")),
          "--input-type=module",
          "-e",
          program,
        ],
        { cwd: import.meta.dirname },
      ),
    ),
  );
  for (const { code, stderr } of outcomes) assert.equal(code, 0, stderr);
  assert.equal(new Set(outcomes.map(({ stdout }) => stdout)).size, 1);
  // No partial file is left.
  assert.deepEqual(
    readdirSync(directory.join("egress")).filter((name) => name.endsWith(".draft")),
    [],
  );
});

test("an authority is renewed long before it expires, and removes no file that a process uses", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("egress");
  await using early = start(folder, () => Date.now() - 500 * day);
  const first = await open(early);
  assert.ok(read(first.caFile).validToDate.getTime() > Date.now() + 200 * day);
  await using later = start(folder);
  assert.equal((await open(later)).caFile, first.caFile);
  await using late = start(folder, () => Date.now() + 60 * day);
  const renewed = await open(late);
  assert.notEqual(renewed.caFile, first.caFile);
  assert.ok(read(renewed.caFile).validToDate.getTime() > read(first.caFile).validToDate.getTime());
  assert.ok(readFileSync(first.caFile, "utf8").includes("CERTIFICATE"));
  await using after = start(folder, () => Date.now() + 60 * day);
  assert.equal((await open(after)).caFile, renewed.caFile);
});

test("a leaf is created once for a host, and is valid for that host and at most as long as the authority", async () => {
  await using fixture = await startProxyFixture({ hosts: [host, "other.example.com"] });
  const leafOf = async (name: string) => {
    const inside = await fixture.secure({ authority: `${name}:443`, servername: name });
    const leaf = inside.getPeerX509Certificate();
    inside.destroy();
    assert.ok(leaf !== undefined);
    return leaf;
  };
  const [first, second, other] = [await leafOf(host), await leafOf(host), await leafOf("other.example.com")];
  assert.equal(first.fingerprint256, second.fingerprint256);
  assert.notEqual(first.fingerprint256, other.fingerprint256);
  assert.equal(first.subjectAltName, `DNS:${host}`);
  assert.equal(other.subjectAltName, "DNS:other.example.com");
  assert.ok(first.validToDate.getTime() - Date.now() < 8 * day);
  assert.ok(!first.ca);
  assert.equal(first.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
  assert.ok(first.verify(read(fixture.proxy.caFile).publicKey));
});

/** Damage to the folder, and the expected reason. */
const damages: readonly (readonly [what: string, damage: (folder: string) => void, reason: RegExp])[] = [
  ["a key that others can read", (folder) => chmodSync(`${folder}/authority.pem`, 0o640), /others can read/],
  ["a key that all can read", (folder) => chmodSync(`${folder}/authority.pem`, 0o604), /others can read/],
  ["a folder that others can write", (folder) => chmodSync(folder, 0o770), /others can read or change/],
  [
    "a truncated file",
    (folder) => truncateSync(`${folder}/authority.pem`, 200),
    /not a certificate and a key/,
  ],
  ["an empty file", (folder) => truncateSync(`${folder}/authority.pem`, 0), /not a certificate and a key/],
  ["a large file", (folder) => truncateSync(`${folder}/authority.pem`, 1 << 20), /too large/],
  [
    "the key of another authority",
    (folder) => {
      const { certificate } = createTestAuthority();
      const key = readFileSync(`${folder}/authority.pem`, "utf8").replace(
        /^[\s\S]*(?=-----BEGIN PRIVATE)/,
        "",
      );
      writeFileSync(`${folder}/authority.pem`, `${certificate}${key}`);
    },
    /do not belong together/,
  ],
];

for (const [what, damage, reason] of damages) {
  test(`the proxy does not start with ${what}, and gives a hint`, async () => {
    await using directory = await makeTemporaryDirectory();
    const folder = directory.join("egress");
    await using first = start(folder);
    await open(first);
    damage(folder);
    await using second = start(folder);
    const failure = await open(second).catch((error: unknown) => error);
    assert.ok(failure instanceof Error && "hint" in failure);
    assert.equal(Reflect.get(failure, "code"), "EGRESS_AUTHORITY_UNUSABLE");
    assert.match(failure.message, reason);
    assert.ok(typeof failure.hint === "string" && failure.hint !== "");
    assert.doesNotMatch(`${failure.message}${failure.hint}`, /PRIVATE KEY|MIG/);
    chmodSync(folder, 0o700);
  });
}

test("the proxy follows no link to a key, and no link to a folder", async () => {
  await using directory = await makeTemporaryDirectory();
  await using elsewhere = start(directory.join("elsewhere"));
  await open(elsewhere);
  symlinkSync(directory.join("elsewhere"), directory.join("linked"));
  await using linked = start(directory.join("linked"));
  assert.equal(await codeOf(open(linked)), "EGRESS_AUTHORITY_UNUSABLE");
  mkdirSync(directory.join("own"), { mode: 0o700 });
  symlinkSync(directory.join("elsewhere/authority.pem"), directory.join("own/authority.pem"));
  await using own = start(directory.join("own"));
  assert.equal(await codeOf(open(own)), "EGRESS_AUTHORITY_UNUSABLE");
});

test("a closed egress starts no proxy, and a failed start can be retried", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("egress");
  mkdirSync(folder, { mode: 0o755 });
  chmodSync(folder, 0o755);
  const egress = start(folder);
  assert.equal(await codeOf(open(egress)), "EGRESS_AUTHORITY_UNUSABLE");
  chmodSync(folder, 0o700);
  const proxy = await open(egress);
  await egress[Symbol.asyncDispose]();
  await assert.rejects(fetch(proxy.url));
  assert.equal(await codeOf(open(egress)), "EGRESS_CLOSED");
});
