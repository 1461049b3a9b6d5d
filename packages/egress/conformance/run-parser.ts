/** Runs the response parser on the bytes of one connection, and records the messages. */

import { ResponseParser } from "../src/proxy/response-parser.ts";

/** A message with a complete head. */
export interface Message {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  body: string;
  trailers: readonly string[];
  isComplete: boolean;
}

/** The result of parsing. */
export interface Outcome {
  readonly messages: readonly Message[];
  readonly isRefused: boolean;
}

/** The inputs of a run besides the bytes. */
export interface RunOptions {
  readonly skipsBody: boolean;
  readonly finishes: boolean;
  /** Whether the input must be refused. */
  readonly expected: { readonly isRefused: boolean };
}

const headMaxBytes = 64 * 1024;

/** Parses `pieces`: each response answers a request, as long as the connection is kept. */
export function runParser(pieces: readonly Buffer[], { skipsBody, finishes, expected }: RunOptions): Outcome {
  const messages: Message[] = [];
  const method = skipsBody ? "HEAD" : "GET";
  let keepsAlive = true;
  const begin = (status: number, headers: readonly string[]): Message => {
    const message: Message = { status, headers, body: "", trailers: [], isComplete: false };
    messages.push(message);
    return message;
  };
  const parser = new ResponseParser(
    {
      onInterim(status, headers) {
        begin(status, headers).isComplete = true;
      },
      onHead(head) {
        ({ keepsAlive } = head);
        begin(head.status, head.headers);
      },
      onBody(piece) {
        const message = messages.at(-1);
        if (message !== undefined) message.body += piece.toString("latin1");
      },
      onEnd(trailers) {
        const message = messages.at(-1);
        if (message === undefined) return;
        message.isComplete = true;
        message.trailers = trailers;
        if (keepsAlive) parser.expect(method);
      },
    },
    headMaxBytes,
  );
  parser.expect(method);
  try {
    for (const piece of pieces) parser.push(piece);
    if (finishes) parser.close();
    // The parser can wait for the end of a head before it refuses it.
    else if (expected.isRefused && messages.at(-1)?.isComplete !== false)
      parser.push(Buffer.from("\r\n\r\n"));
  } catch {
    return { messages, isRefused: true };
  }
  return { messages, isRefused: false };
}
