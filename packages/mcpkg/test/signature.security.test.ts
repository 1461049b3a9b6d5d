import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { SchemaValidator } from "@toolcrib/json";
import {
  checkSignature,
  keyIdOf,
  McpkgError,
  newPublisherKey,
  openPackage,
  type PackageFiles,
  parsePackage,
  readPrivateKey,
  readPublicKey,
  signaturePath,
  signPackage,
  type ToolPackage,
  writeArchive,
} from "@toolcrib/mcpkg";
import { fastSample } from "@toolcrib/testing";
import { echoFiles } from "./sample-packages.ts";

const validator = new SchemaValidator();
const key = readPrivateKey(newPublisherKey());

function parsed(files: PackageFiles): ToolPackage {
  const { value, diagnostics } = parsePackage(files, validator);
  assert(value, JSON.stringify(diagnostics));
  return value;
}

function open(bytes: Uint8Array) {
  return openPackage(bytes, validator);
}

/** Checks that a change of the signed files is refused. */
function checkRefused(
  change: (files: Map<string, { bytes: Uint8Array; isExecutable: boolean }>) => void,
  message: RegExp,
) {
  const files = new Map([...signPackage(parsed(echoFiles({}, { "run.js": "1" })), key)]);
  change(files);
  assert.throws(
    () => checkSignature(parsed(files)),
    (error: unknown) => {
      assert(error instanceof McpkgError && error.code === "MCPKG_SIGNATURE_INVALID", String(error));
      assert.match(error.message, message);
      return true;
    },
  );
}

test("a signed package names the key that signed it, and an unsigned one none", async () => {
  const signed = signPackage(parsed(echoFiles()), key);
  const { value } = await open(writeArchive(signed));
  assert(value?.signature.kind === "signed");
  assert.equal(value.signature.keyId, keyIdOf(key));
  assert.match(value.digest, /^sha256:[0-9a-f]{64}$/);
  const unsigned = await open(writeArchive(echoFiles()));
  assert.equal(unsigned.value?.signature.kind, "unsigned");
  // Signing again gives the same bytes: nothing random or timed is in them.
  assert.deepEqual(writeArchive(signPackage(parsed(signed), key)), writeArchive(signed));
});

test("checkSignature() refuses every change of the files", () => {
  const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
  checkRefused((files) => files.set("run.js", file("2")), /"run.js" was changed/);
  checkRefused((files) => files.set("more.js", file("2")), /does not cover "more.js"/);
  checkRefused((files) => files.delete("run.js"), /"run.js" was removed/);
  checkRefused((files) => files.set("run.js", { ...files.get("run.js")!, isExecutable: true }), /executable/);
});

test("checkSignature() refuses the signature of another package, of another key, and one with another key in it", () => {
  const other = readPrivateKey(newPublisherKey());
  const mine = signPackage(parsed(echoFiles()), key).get(signaturePath)!;
  checkRefused(
    (files) =>
      files.set(signaturePath, signPackage(parsed(echoFiles({ version: "9.9.9" })), key).get(signaturePath)!),
    /changed|cover/,
  );
  const envelope = JSON.parse(Buffer.from(mine.bytes).toString()) as {
    payload: string;
    payloadType: string;
    signatures: { keyid: string; sig: string }[];
  };
  const withEnvelope = (changes: Partial<typeof envelope>) => ({
    bytes: Buffer.from(JSON.stringify({ ...envelope, ...changes })),
    isExecutable: false,
  });
  const [signature] = envelope.signatures as [{ keyid: string; sig: string }];
  checkRefused(
    (files) =>
      files.set(signaturePath, withEnvelope({ signatures: [{ ...signature, keyid: keyIdOf(other) }] })),
    /by the key/,
  );
  checkRefused(
    (files) =>
      files.set(signaturePath, withEnvelope({ signatures: [{ ...signature, sig: `${"A".repeat(86)}==` }] })),
    /by the key/,
  );
  const statement = JSON.parse(Buffer.from(envelope.payload, "base64").toString()) as { predicate: object };
  const swapped = {
    ...statement,
    predicate: {
      ...statement.predicate,
      publicKey: readPublicKey(newPublisherKey()).export({ type: "spki", format: "der" }).toString("base64"),
    },
  };
  checkRefused(
    (files) =>
      files.set(
        signaturePath,
        withEnvelope({ payload: Buffer.from(JSON.stringify(swapped)).toString("base64") }),
      ),
    /by the key/,
  );
});

test("another scheme counts as unsigned", () => {
  const schemes = [
    "",
    "-----BEGIN PGP SIGNATURE-----",
    "{}",
    '{"payloadType":"x","payload":"","signatures":[]}',
    '{"payloadType":"text/plain","payload":"","signatures":[{"keyid":"a","sig":""}]}',
    "[".repeat(100_000),
  ];
  for (const text of schemes) {
    const files = echoFiles({}, { [signaturePath]: text });
    assert.equal(checkSignature(parsed(files)).kind, "unknown-scheme", text.slice(0, 60));
  }
});

test("no change of one bit of a signed package of less than 4 kB is accepted as signed", async () => {
  const archive = writeArchive(signPackage(parsed(echoFiles()), key));
  assert(archive.length < 4096, String(archive.length));
  for (const bit of fastSample(Array.from({ length: archive.length * 8 }, (_, at) => at))) {
    const changed = Uint8Array.from(archive);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    const opened = await open(changed).catch((error: unknown) => {
      assert(error instanceof McpkgError, `bit ${bit}: ${String(error)}`);
    });
    assert.notEqual(opened?.value?.signature.kind, "signed", `bit ${bit}`);
    if (bit % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
});

test("keys of other kinds and texts are refused without being quoted", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const rsa = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  for (const pem of [rsa, "secret text", ""]) {
    assert.throws(
      () => readPrivateKey(pem),
      (error: unknown) => {
        assert(error instanceof McpkgError && error.code === "MCPKG_KEY_INVALID");
        assert(
          pem === "" ||
            !JSON.stringify([error.message, error.hint, String(error.cause)]).includes(pem.slice(0, 11)),
        );
        return true;
      },
    );
  }
});
