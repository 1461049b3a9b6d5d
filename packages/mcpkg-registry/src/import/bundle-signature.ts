/**
 * The signature of a bundle: a PKCS #7 block (CMS SignedData, RFC 5652) over the bytes before it, as the official
 * command writes it. What is checked is that the block fits these bytes and the key of a certificate in it. Whether
 * that certificate means anything is not decided: it is reported with its issuer and fingerprint, and is often one
 * that the signer made alone. Pure.
 */

import { hash, verify, X509Certificate } from "node:crypto";

/** A certificate, for people to compare. */
export interface SignerCertificate {
  /** As `CN=Example, O=Example`. */
  readonly subject: string;
  readonly issuer: string;
  /** SHA-256 of the certificate in hexadecimal. */
  readonly sha256: string;
  readonly validFrom: string;
  readonly validTo: string;
  /** Whether its own key signed it. */
  readonly isSelfSigned: boolean;
}

/** The contents of a signature. */
export type BundleSignature =
  | { readonly kind: "none" }
  /** It fits the bundle. The certificate of its signer comes first, then the others in the block; none is trusted. */
  | { readonly kind: "fits"; readonly certificates: readonly [SignerCertificate, ...SignerCertificate[]] }
  /** The bundle was changed after it was signed, or the block is damaged. */
  | { readonly kind: "invalid"; readonly reason: string }
  /** It has a form that is not known here. */
  | { readonly kind: "not-checked"; readonly reason: string };

/** An element of DER. */
interface Element {
  readonly tag: number;
  /** Its content. */
  readonly content: Buffer;
  /** The element as a whole. */
  readonly whole: Buffer;
}

const certificatesMaxCount = 10;
const digestNames: ReadonlyMap<string, string> = new Map([
  ["608648016503040201", "sha256"],
  ["608648016503040202", "sha384"],
  ["608648016503040203", "sha512"],
]);
/** RSA (PKCS #1 v1.5) and ECDSA, also with the digest in their name. */
const signatureNames = /^(?:2a864886f70d0101(?:01|0b|0c|0d)|2a8648ce3d0403(?:02|03|04))$/;
const signedData = "2a864886f70d010702";
const messageDigest = "2a864886f70d010904";

/** @param block the PKCS #7 structure in DER @param contents spellings of the bytes that it may cover */
export function checkBundleSignature(block: Buffer, contents: readonly Buffer[]): BundleSignature {
  try {
    return check(block, contents);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return { kind: "invalid", reason: "its block is damaged" };
  }
}

function check(block: Buffer, contents: readonly Buffer[]): BundleSignature {
  const [type, wrapped] = elementsIn(elementAt(block, 0x30).content);
  if (type === undefined || wrapped === undefined || hexOf(type) !== signedData) throw new DerError();
  const members = elementsIn(elementAt(wrapped.content, 0x30).content);
  const certificates = readCertificates(members.find(({ tag }) => tag === 0xa0));
  const signers = elementsIn(members.findLast(({ tag }) => tag === 0x31)?.content ?? Buffer.alloc(0));
  const [signer, ...others] = signers;
  if (signer === undefined || others.length > 0) return unknown(`it has ${signers.length} signers`);
  const fields = elementsIn(signer.content);
  const attributes = fields.find(({ tag }) => tag === 0xa0 && tag !== fields[1]?.tag) ?? fields[3];
  const [digestName, signatureName] = fields
    .filter((one, at) => at >= 2 && one.tag === 0x30)
    .map(({ content }) => elementsIn(content)[0])
    .map((one) => (one === undefined ? "" : hexOf(one)));
  const digest = digestNames.get(digestName ?? "");
  const signature = fields.find(({ tag }) => tag === 0x04);
  if (digest === undefined) return unknown("its digest is none of SHA-256, SHA-384 and SHA-512");
  if (attributes === undefined || attributes.tag !== 0xa0) return unknown("it has no signed attributes");
  if (!signatureNames.test(signatureName ?? ""))
    return unknown("its algorithm is neither RSA (PKCS #1) nor ECDSA");
  if (signature === undefined) throw new DerError();
  const stated = elementsIn(attributes.content)
    .map(({ content }) => elementsIn(content))
    .filter(([name]) => name !== undefined && hexOf(name) === messageDigest)
    .map(([, values]) => elementsIn(values?.content ?? Buffer.alloc(0))[0]?.content);
  const [expected] = stated;
  if (expected === undefined || stated.length > 1) return unknown("it states no digest of the bundle");
  if (!contents.some((content) => hash(digest, content, "buffer").equals(expected))) {
    return { kind: "invalid", reason: "the bundle was changed after it was signed" };
  }
  // What is signed is the set of attributes with the tag of a set.
  const signed = Buffer.concat([Buffer.from([0x31]), attributes.whole.subarray(1)]);
  const own = certificates.find(({ publicKey }) => verify(digest, signed, publicKey, signature.content));
  if (own === undefined) {
    return { kind: "invalid", reason: "no certificate in its block has the key that signed it" };
  }
  const [first, ...rest] = [own, ...certificates.filter((one) => one !== own)].map(describe);
  return { kind: "fits", certificates: [first as SignerCertificate, ...rest] };
}

function unknown(reason: string): BundleSignature {
  return { kind: "not-checked", reason };
}

function readCertificates(set: Element | undefined): readonly X509Certificate[] {
  const found = elementsIn(set?.content ?? Buffer.alloc(0));
  if (found.length > certificatesMaxCount) throw new DerError();
  return found.map(({ whole }) => {
    try {
      const certificate = new X509Certificate(whole);
      // A key of an unknown kind is found here.
      void certificate.publicKey.asymmetricKeyType;
      return certificate;
    } catch {
      throw new DerError();
    }
  });
}

function describe(certificate: X509Certificate): SignerCertificate {
  const { subject, issuer, fingerprint256, validFrom, validTo } = certificate;
  const line = (text: string | undefined) => (text ?? "").replaceAll("\n", ", ").slice(0, 300);
  return {
    subject: line(subject),
    issuer: line(issuer),
    sha256: fingerprint256.replaceAll(":", "").toLowerCase(),
    validFrom,
    validTo,
    isSelfSigned: certificate.verify(certificate.publicKey),
  };
}

/** The block is not DER, or not of the expected structure. */
class DerError extends Error {}

function hexOf({ content }: Element): string {
  return content.toString("hex");
}

/** Returns the elements of a content. @throws {DerError} */
function elementsIn(bytes: Buffer): readonly Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes.subarray(at));
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

/** Returns the element that `bytes` begin with. @throws {DerError} also for another tag than the wanted one */
function elementAt(bytes: Buffer, wantedTag?: number): Element {
  const tag = bytes[0];
  const first = bytes[1];
  // Tags of several bytes, and lengths that are not stated, do not occur.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f || first === 0x80)
    throw new DerError();
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4 || bytes.length < 2 + lengthBytes) throw new DerError();
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (start + length > bytes.length || (wantedTag !== undefined && tag !== wantedTag)) throw new DerError();
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}
