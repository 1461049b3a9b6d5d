/**
 * The local certificate authority, which only child processes on this machine
 * trust: creates its own certificate, and a leaf for each host that the proxy
 * intercepts. No I/O: `open-local-authority.ts` stores the key.
 *
 * Even if its key is stolen, the authority cannot sign another authority (path
 * length 0), certificates other than for servers (extended key usage), or
 * certificates for addresses (name constraints).
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

/** The dependencies of an authority. */
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

/** A leaf certificate with its expiry time. */
export interface Leaf extends CertificateAndKey {
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

/** An authority that can mint leaves. */
export interface LocalAuthority {
  /** PEM. */
  readonly certificate: string;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
  /** Creates a leaf for `host`, in canonical form. */
  mint(host: string): Leaf;
}

const dayMs = 86_400_000;
/** Validity of a new authority. */
const authorityValidMs = 730 * dayMs;
/** An authority with less remaining validity is renewed when it is opened. */
export const authorityRenewMs = 180 * dayMs;
/** Validity of a leaf. */
const leafValidMs = 7 * dayMs;
/** A leaf with less remaining validity is replaced. */
export const leafRenewMs = dayMs;
/** Certificates start in the past, since the clocks of containers and virtual machines differ. */
const backdatedMs = 60 * 60_000;

const authorityName = "Toolcrib local egress authority";
const leafName = "Toolcrib egress";
const serialBytes = 16;

/** Creates a new authority: its certificate and its key. */
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
 * Loads an existing authority.
 *
 * @throws {Error} if the certificate or the key is invalid, or if they do not belong together.
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
  // One key for all leaves of this process: further keys would add cost and no secrecy.
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
          // A common name has 64 characters at most; clients read the alternative name.
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
