/** Reads the secret of a credential for one request. Errors name the secret and never contain it. */

import { isCodedError } from "@toolcrib/diagnostics";
import { secretTextsOf } from "@toolcrib/redaction";
import { EgressError } from "../egress-error.ts";
import type { EgressCredential } from "../egress-types.ts";

/** The secret of a credential. */
export interface ReadSecret {
  readonly credential: EgressCredential;
  /** Replaces `{token}`. */
  readonly token: string;
  /** The value as `EgressCredential.read` returned it. */
  readonly value: string;
}

const secretMaxLength = 16_384;
const sendablePattern = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * Reads the secret of `credential`.
 *
 * @throws {EgressError} `EGRESS_SECRET_UNAVAILABLE`
 */
export async function readSecret(credential: EgressCredential): Promise<ReadSecret> {
  let value: string;
  try {
    value = await credential.read();
  } catch (cause) {
    const hint = isCodedError(cause) ? cause.hint : undefined;
    throw unavailable(credential, "it cannot be read", { cause, hint });
  }
  const token =
    credential.encoding === "basic" && value.includes(":")
      ? Buffer.from(value, "utf8").toString("base64")
      : value;
  if (token.length > secretMaxLength) {
    throw unavailable(credential, `it has more than ${secretMaxLength} characters`);
  }
  if (!sendablePattern.test(token)) {
    const hint = "store it again, without line breaks, as visible ASCII";
    throw unavailable(credential, "it has characters that cannot be sent", { hint });
  }
  return { credential, token, value };
}

function unavailable(
  { id, secretName }: EgressCredential,
  state: string,
  options: { readonly cause?: unknown; readonly hint?: string } = {},
): EgressError {
  const message = `Cannot use secret "${secretName}" for credential "${id}": ${state}`;
  return new EgressError("EGRESS_SECRET_UNAVAILABLE", message, options);
}

/** Passwords that are not secret: APIs that expect their key as the user name document these as the password. */
const fixedPasswords: ReadonlySet<string> = new Set(["api_token"]);
const passwordMinLength = 6;

/**
 * Returns the texts that a response must not contain: the secret as it was read
 * and as it was sent, and the secret part of `user:password`. A response may
 * contain the user name.
 */
export function echoTextsOf({ credential, token, value }: ReadSecret): readonly string[] {
  const texts = new Set([value, token]);
  if (credential.encoding === "basic") {
    const pair = value.includes(":") ? value : Buffer.from(value, "base64").toString("utf8");
    const at = pair.indexOf(":");
    if (at !== -1 && /^[ -~]+$/.test(pair)) {
      const password = pair.slice(at + 1);
      const isFixed = password.length < passwordMinLength || fixedPasswords.has(password);
      texts.add(pair);
      texts.add(isFixed ? pair.slice(0, at) : password);
    }
  }
  return [...new Set([...texts].flatMap(secretTextsOf))];
}
