/**
 * Hooks that are URLs: one POST for each question. https goes through the egress, which checks host
 * and address and inserts the secrets; http goes to this machine alone. Only a response with the
 * status 200 and a content type of JSON is an answer, and redirects are not followed.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { Egress, EgressSource } from "@toolcrib/egress";
import { decode, tooLarge } from "./command-hook.ts";
import { HookFailure } from "./hook-failure.ts";
import type { SendToHook } from "./hooks.ts";

/** The address of a hook. */
export interface HookAddress {
  readonly url: string;
  /** Headers of each request; with https, placeholders stand for the secrets of `source`. */
  readonly headers: { readonly [name: string]: string };
  /** The sender of requests through the egress; undefined for http to this machine. */
  readonly source: EgressSource | undefined;
}

/** Returns an answer in which the egress has put placeholders for secrets, with the names of the secrets. */
function withNames(answer: string, source: EgressSource | undefined): string {
  return (source?.credentials ?? []).reduce(
    (text, { placeholder, secretName }) => text.replaceAll(placeholder, () => `[secret ${secretName}]`),
    answer,
  );
}

/** Whether a content type is `application/json` or a type that is written in JSON, with or without parameters. */
function isJsonType(type: string | undefined): boolean {
  return /^application\/(?:[\w.!#$&^-]+\+)?json[ \t]*(?:;|$)/i.test(type ?? "");
}

/** Returns the function that asks a URL. @param address returns the address for one question */
export function createUrlSend(
  egress: Pick<Egress, "fetch" | "sendToLoopback">,
  address: () => Promise<HookAddress>,
): SendToHook {
  return async (question, { signal, answerMaxBytes, callId }) => {
    const { url, headers, source } = await address();
    const request = {
      url,
      headers: { "content-type": "application/json", accept: "application/json", ...headers },
      body: Buffer.from(question),
      signal,
      maxBytes: answerMaxBytes,
    };
    try {
      const {
        status,
        headers: received,
        body,
        totalBytes,
      } = source === undefined
        ? await egress.sendToLoopback(request)
        : await egress.fetch({ ...request, method: "POST", callId }, source);
      if (status >= 300 && status < 400) {
        throw new HookFailure(`it redirects (status ${status}), which is not followed`);
      }
      if (status !== 200) throw new HookFailure(`it answered with the status ${status}`);
      if (!isJsonType(received["content-type"])) {
        throw new HookFailure("its answer has no content type of JSON, such as application/json");
      }
      if (totalBytes > answerMaxBytes) throw tooLarge(answerMaxBytes);
      return withNames(decode(body), source);
    } catch (error) {
      if (!isCodedError(error) || signal.aborted) throw error;
      // The address is for the operator.
      throw new HookFailure(`it could not be reached (${error.code})`, error.message);
    }
  };
}
