/** Signed X.509 certificates for EC P-256 keys (RFC 5280, RFC 5480): the subset that the local authority needs. */

import { createHash, type KeyObject, sign } from "node:crypto";
import {
  bitString,
  contextTag,
  type Der,
  integer,
  octetString,
  oid,
  sequence,
  setOf,
  tagged,
  time,
  toPem,
  trueValue,
  utf8String,
} from "./der.ts";

/** A certificate to be signed. */
export interface CertificateDraft {
  /** 16 random bytes. */
  readonly serial: Buffer;
  /** Common name of the issuer. */
  readonly issuer: string;
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly publicKey: KeyObject;
  /** Public key of the issuer. */
  readonly issuerKey: KeyObject;
  readonly purpose:
    | {
        /** Can sign server certificates, but no other authority and no certificate for an address. */
        readonly kind: "authority";
      }
    | { readonly kind: "server"; readonly host: string };
}

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
const serverAuth = oid("1.3.6.1.5.5.7.3.1");
const commonName = oid("2.5.4.3");
const organization = oid("2.5.4.10");

const digitalSignature = bitString(Buffer.from([0x80]), 7);
const keyCertSign = bitString(Buffer.from([0x04]), 2);
const dnsName = contextTag.primitive | 2;
const ipAddress = contextTag.primitive | 7;

/** Signs `draft` with the key of its issuer. Returns PEM. */
export function signCertificate(draft: CertificateDraft, issuerPrivateKey: KeyObject): string {
  const content = sequence(
    tagged(contextTag.constructed, integer(Buffer.from([2]))),
    integer(toSerial(draft.serial)),
    ecdsaWithSha256,
    nameOf(draft.issuer),
    sequence(time(draft.notBefore), time(draft.notAfter)),
    nameOf(draft.subject),
    spki(draft.publicKey),
    tagged(contextTag.constructed | 3, sequence(...extensionsOf(draft))),
  );
  const signature = sign("sha256", content, issuerPrivateKey);
  return toPem("CERTIFICATE", sequence(content, ecdsaWithSha256, bitString(signature)));
}

function extensionsOf({ purpose, publicKey, issuerKey }: CertificateDraft): readonly Der[] {
  const isAuthority = purpose.kind === "authority";
  return [
    // pathLenConstraint 0: it cannot sign another authority.
    extension(
      "2.5.29.19",
      "critical",
      isAuthority ? sequence(trueValue, integer(Buffer.from([0]))) : sequence(),
    ),
    extension("2.5.29.15", "critical", isAuthority ? keyCertSign : digitalSignature),
    extension("2.5.29.37", "plain", sequence(serverAuth)),
    purpose.kind === "authority"
      ? extension("2.5.29.30", "critical", noAddresses())
      : extension("2.5.29.17", "plain", sequence(tagged(dnsName, Buffer.from(purpose.host, "latin1")))),
    extension("2.5.29.14", "plain", octetString(keyId(publicKey))),
    extension("2.5.29.35", "plain", sequence(tagged(contextTag.primitive, keyId(issuerKey)))),
  ];
}

function extension(id: string, weight: "critical" | "plain", value: Der): Der {
  return sequence(oid(id), ...(weight === "critical" ? [trueValue] : []), octetString(value));
}

/** Name constraints: `excludedSubtrees` with every address, 0.0.0.0/0 and ::/0. */
function noAddresses(): Der {
  const all = [8, 32].map((length) => sequence(tagged(ipAddress, Buffer.alloc(length))));
  return sequence(tagged(contextTag.constructed | 1, ...all));
}

function nameOf(common: string): Der {
  const part = (type: Der, text: string) => setOf(sequence(type, utf8String(text)));
  return sequence(part(organization, "Toolcrib"), part(commonName, common));
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

/** RFC 7093 §2, method 4 with 160 bits: a digest of the whole key. */
function keyId(key: KeyObject): Buffer {
  return createHash("sha256").update(spki(key)).digest().subarray(0, 20);
}

/** Makes the serial positive and its length constant. */
function toSerial(bytes: Buffer): Buffer {
  const serial = Buffer.from(bytes);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}
