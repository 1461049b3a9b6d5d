/**
 * The certificate authority that only the children of this machine trust: makes
 * its own certificate, and a leaf for a host that the proxy stands in for. Pure
 * but for the cryptography: where its key is kept is `open-local-authority.ts`.
 *
 * It can sign no other authority (path length 0), nothing but servers (extended
 * key usage) and no address (name constraints), whoever came to hold its key.
 */

import { createPrivateKey, type webcrypto } from "node:crypto";
import type { Extension } from "@peculiar/x509";

/** What the authority needs of the world. */
export interface AuthorityClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Buffer;
}

/** A certificate with its key, both PEM. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly key: string;
}

/** A leaf, and until when it may be handed out. */
export interface Leaf extends CertificateAndKey {
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

/** An authority that can mint. */
export interface LocalAuthority {
  /** PEM. */
  readonly certificate: string;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
  /** A new leaf for `host`, which is canonical. */
  mint(host: string): Promise<Leaf>;
}

const dayMs = 86_400_000;
/** How long a new authority is valid. */
export const authorityValidMs = 730 * dayMs;
/** An authority with less than this left is renewed when it is opened. */
export const authorityRenewMs = 180 * dayMs;
/** How long a leaf is valid. Clients look at the whole span too; more than a year is refused by some. */
const leafValidMs = 7 * dayMs;
/** A leaf with less than this left is not handed out any more. */
export const leafRenewMs = dayMs;
/** Clocks of containers and virtual machines differ a little. */
const backdatedMs = 60 * 60_000;

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const authorityName = "CN=Toolcrib local egress authority, O=Toolcrib";
/** RFC 5280 §4.2.1.10: `excludedSubtrees` with 0.0.0.0/0 and ::/0. */
const noAddresses = Buffer.concat([
  Buffer.from("3032a130", "hex"),
  Buffer.from("300a8708", "hex"),
  Buffer.alloc(8),
  Buffer.from("30228720", "hex"),
  Buffer.alloc(32),
]);
const nameConstraintsOid = "2.5.29.30";

/** Loading it takes longer than minting, and who only fetches never needs it. */
const loadX509 = () => import("@peculiar/x509");

/** Make a new authority: its certificate and its key. */
export async function createAuthority(clock: AuthorityClock): Promise<CertificateAndKey> {
  const x509 = await loadX509();
  const keys = await createKeyPair();
  const now = clock.now();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: createSerial(clock),
      name: authorityName,
      notBefore: new Date(now - backdatedMs),
      notAfter: new Date(now + authorityValidMs),
      keys,
      signingAlgorithm: keyAlgorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.Extension(nameConstraintsOid, true, noAddresses),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ] satisfies Extension[],
    },
    crypto as webcrypto.Crypto,
  );
  return { certificate: `${certificate.toString("pem")}\n`, key: await toKeyPem(keys.privateKey) };
}

/**
 * Take up an authority that was made before.
 *
 * @throws whatever the cryptography says of a certificate or a key that is none, or not its own.
 */
export async function readAuthority(
  { certificate: pem, key }: CertificateAndKey,
  clock: AuthorityClock,
): Promise<LocalAuthority> {
  const x509 = await loadX509();
  const certificate = new x509.X509Certificate(pem);
  const pkcs8 = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
  const signingKey = await crypto.subtle.importKey("pkcs8", pkcs8, keyAlgorithm, false, ["sign"]);
  const authorityId = await x509.AuthorityKeyIdentifierExtension.create(certificate);
  // One key for all leaves of this process: it is as secret as the process, and a key costs as much as a signature.
  const leafKeys = await createKeyPair();
  const leafKey = await toKeyPem(leafKeys.privateKey);
  const notAfter = certificate.notAfter.getTime();
  return {
    certificate: pem,
    notAfter,
    async mint(host) {
      const now = clock.now();
      const leafNotAfter = Math.min(now + leafValidMs, notAfter);
      const leaf = await x509.X509CertificateGenerator.create(
        {
          serialNumber: createSerial(clock),
          // A common name has 64 characters at most (RFC 5280); clients read the alternative name.
          subject: "O=Toolcrib egress",
          issuer: certificate.subjectName,
          notBefore: new Date(now - backdatedMs),
          notAfter: new Date(leafNotAfter),
          publicKey: leafKeys.publicKey,
          signingKey,
          signingAlgorithm: keyAlgorithm,
          extensions: [
            new x509.BasicConstraintsExtension(false, undefined, true),
            new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
            new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
            new x509.SubjectAlternativeNameExtension([{ type: "dns", value: host }]),
            authorityId,
            await x509.SubjectKeyIdentifierExtension.create(leafKeys.publicKey),
          ],
        },
        crypto as webcrypto.Crypto,
      );
      return { certificate: `${leaf.toString("pem")}\n`, key: leafKey, notAfter: leafNotAfter };
    },
  };
}

function createKeyPair(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]) as Promise<CryptoKeyPair>;
}

async function toKeyPem(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey("pkcs8", key));
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`;
}

/** 128 bits of chance; the first bit is 0, so that the number is positive, the second 1, so that it has its length. */
function createSerial({ randomBytes }: AuthorityClock): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}
