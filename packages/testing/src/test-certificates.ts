/**
 * Certificates for tests: an authority and the certificates that it signs, valid
 * or deliberately invalid. They follow X.509 v3 (RFC 5280) with keys on P-256.
 * Keys exist in this process only.
 *
 * The encoder is independent of the one in the egress, which signs certificates
 * too, so that the egress is not tested with the output of its own code.
 */

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { setDefaultCACertificates } from "node:tls";

/** A certificate and its key, as PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Options of a certificate. */
export interface TestCertificateOptions {
  /** Names that it is valid for; wildcards such as `*.example.com` are allowed. */
  readonly hosts: readonly string[];
  /** Milliseconds until it expires; negative for an expired certificate. @default one day */
  readonly validMs?: number;
}

/** Signs certificates. */
export interface TestAuthority {
  /** The certificate of the authority, as PEM. */
  readonly certificate: string;
  sign(options: TestCertificateOptions): TestCertificate;
}

const day = 86_400_000;
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
let authorities = 0;

/**
 * Removes the default root certificates of Node from this process, for tests that
 * open many TLS contexts: the roots take 15 ms of CPU time in each.
 */
export function clearDefaultRoots(): void {
  setDefaultCACertificates([]);
}

/** Creates an authority. Nothing trusts it until its certificate is added. */
export function createTestAuthority(): TestAuthority {
  authorities += 1;
  const name = `Test Authority ${authorities} ${randomBytes(4).toString("hex")}`;
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signAs = (
    subject: string,
    subjectKey: KeyObject,
    validMs: number,
    extensions: readonly Buffer[],
  ): string =>
    toPem(
      signed(
        sequence(
          tagged(0xa0, integer(Buffer.from([2]))),
          integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
          ecdsaWithSha256,
          nameOf(name),
          sequence(time(Date.now() - 2 * day), time(Date.now() + validMs)),
          nameOf(subject),
          subjectKey.export({ type: "spki", format: "der" }),
          tagged(0xa3, sequence(...extensions)),
        ),
        privateKey,
      ),
    );
  const isAuthority = extension("551d13", sequence(tagged(0x01, Buffer.from([0xff]))));
  return {
    certificate: signAs(name, publicKey, 30 * day, [isAuthority]),
    sign({ hosts, validMs = day }) {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const names = sequence(...hosts.map((host) => tagged(0x82, Buffer.from(host, "latin1"))));
      return {
        certificate: signAs("Test Server", pair.publicKey, validMs, [extension("551d11", names)]),
        key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };
}

function signed(content: Buffer, key: KeyObject): Buffer {
  const signature = sign("sha256", content, key);
  return sequence(content, ecdsaWithSha256, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), tagged(0x04, value));
}

function nameOf(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(commonName, "utf8")))));
}

function sequence(...content: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(content));
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

/** Encodes a GeneralizedTime with a resolution of one second. */
function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]/g, "").slice(0, 14);
  return tagged(0x18, Buffer.from(`${text}Z`, "latin1"));
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function toPem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
