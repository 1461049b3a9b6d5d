/**
 * The origin of what a server sends to the person or the model at a client: its requests and log messages name the
 * server in their text. A client shows them as requests of the gateway, which is the only server that it
 * knows, and the gateway asks for approvals itself. So a server that is not certified cannot
 * send a form that looks like one of the gateway, or like one of another server. Pure.
 */

import { cutText } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

/** The server that a text comes from. */
export interface Origin {
  /** The server for people, such as `Server "files" (unverified)`; undefined where its texts do not name it. */
  readonly shownAs: string | undefined;
  /** Removes secrets. */
  readonly scrub: (text: string) => string;
}

/** Longest text of a question, in characters. @limit server */
const questionMaxLength = 4000;

/** Returns the parameters of a request or a log message with their origin, where they are to name it. */
export function withOrigin(method: string, params: JsonObject, { shownAs, scrub }: Origin): JsonObject {
  if (shownAs === undefined) return params;
  switch (method) {
    case "elicitation/create":
      return { ...params, message: question(params["message"], { shownAs, scrub }) };
    case "sampling/createMessage":
      return { ...params, systemPrompt: systemPrompt(params["systemPrompt"], shownAs) };
    case "notifications/message": {
      const { logger } = params;
      return { ...params, logger: typeof logger === "string" ? `${shownAs}: ${oneLine(logger)}` : shownAs };
    }
    default:
      return params;
  }
}

/** Returns the data of an error with the origin of the elicitations that the server requires (2025-11-25, elicitation). */
export function withOriginOfElicitations(data: JsonValue, origin: Origin): JsonValue {
  if (origin.shownAs === undefined || !isJsonObject(data)) return data;
  const { elicitations } = data;
  if (!Array.isArray(elicitations)) return data;
  return {
    ...data,
    elicitations: elicitations.map((one) =>
      isJsonObject(one) ? withOrigin("elicitation/create", one, origin) : one,
    ),
  };
}

/** A question of the server. Every later line is marked, so that none of them looks like a text of the gateway. */
function question(message: JsonValue | undefined, { shownAs, scrub }: Origin): string {
  const text = typeof message === "string" ? message.trim() : "";
  const cut =
    text.length > questionMaxLength ? `${cutText(text, questionMaxLength, scrub)}… (shortened)` : text;
  return `${shownAs} asks: ${cut.split(lineBreaks).join("\n> ")}`;
}

function systemPrompt(own: JsonValue | undefined, shownAs: string): string {
  const origin = `${shownAs} sends this request; neither the user nor the gateway wrote it.`;
  return typeof own === "string" && own !== "" ? `${origin}\n\n${own}` : origin;
}

function oneLine(text: string): string {
  return text.split(lineBreaks).join(" ");
}

/** Every break of a line; several in a row are one. */
const lineBreaks = /(?:\r\n|[\n\r\v\f\u0085\u2028\u2029])+/;
