/**
 * The certificate authority that only the children of this machine trust: makes
 * its own certificate, and a leaf for a host that the proxy stands in for. No
 * I/O: where its key is kept is `open-local-authority.ts`.
 *
 * It can sign no other authority (path length 0), nothing but servers (extended
 * key usage) and no address (name constraints), whoever came to hold its key.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  X509Certificate,
} from "node:crypto";
import { promisify } from "node:util";
import { signCertificate } from "./certificate.ts";

/** What the authority needs of the world. */
export interface AuthorityDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
}

/** A certificate with its key, both PEM. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly key: string;
}

/** A leaf, and until when it is valid. */
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
  mint(host: string): Leaf;
}

const dayMs = 86_400_000;
/** How long a new authority is valid. */
const authorityValidMs = 730 * dayMs;
/** An authority with less than this left is renewed when it is opened. */
export const authorityRenewMs = 180 * dayMs;
/** How long a leaf is valid. */
const leafValidMs = 7 * dayMs;
/** A leaf with less than this left is not handed out any more. */
export const leafRenewMs = dayMs;
/** Clocks of containers and virtual machines differ a little. */
const backdatedMs = 60 * 60_000;

const authorityName = "Toolcrib local egress authority";
const leafName = "Toolcrib egress";
const serialBytes = 16;

/** Make a new authority: its certificate and its key. */
export async function createAuthority({ now, randomBytes }: AuthorityDeps): Promise<CertificateAndKey> {
  const { publicKey, privateKey } = await createKeyPair();
  const certificate = signCertificate(
    {
      serial: randomBytes(serialBytes),
      issuer: authorityName,
      subject: authorityName,
      notBefore: now() - backdatedMs,
      notAfter: now() + authorityValidMs,
      publicKey,
      issuerKey: publicKey,
      purpose: { kind: "authority" },
    },
    privateKey,
  );
  return { certificate, key: toKeyPem(privateKey) };
}

/**
 * Take up an authority that was made before.
 *
 * @throws {Error} for a certificate or a key that is none, or that do not belong together.
 */
export async function readAuthority(
  { certificate, key }: CertificateAndKey,
  { now, randomBytes }: AuthorityDeps,
): Promise<LocalAuthority> {
  const own = new X509Certificate(certificate);
  const privateKey = createPrivateKey(key);
  const isOwn = own.ca && own.subject.includes(authorityName) && own.checkPrivateKey(privateKey);
  if (!isOwn) throw new Error("its certificate and its key do not belong together");
  const issuerKey = createPublicKey(privateKey);
  // One key for all leaves of this process: it is no less secret than another, and costs as much as a signature.
  const leaf = await createKeyPair();
  const leafKey = toKeyPem(leaf.privateKey);
  const authorityNotAfter = own.validToDate.getTime();
  return {
    certificate,
    notAfter: authorityNotAfter,
    mint(host) {
      const notAfter = Math.min(now() + leafValidMs, authorityNotAfter);
      const signed = signCertificate(
        {
          serial: randomBytes(serialBytes),
          issuer: authorityName,
          // A common name has 64 characters at most; what clients read is the alternative name.
          subject: leafName,
          notBefore: now() - backdatedMs,
          notAfter,
          publicKey: leaf.publicKey,
          issuerKey,
          purpose: { kind: "server", host },
        },
        privateKey,
      );
      return { certificate: signed, key: leafKey, notAfter };
    },
  };
}

function createKeyPair(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
}

function toKeyPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
