/**
 * Responses of the canary API: its own secret in every encoding and in every kind of
 * body, compressed, split and malformed in every way. The number of a case determines
 * its response; the client sends the number, and the API computes the response from it.
 */

import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { RecordedRequest } from "@toolcrib/testing";
import { type CanaryForm, canaryForms, inForm } from "./canary-forms.ts";

/** Text next to secrets, which shows that a response arrived completely. */
export const before = "this comes before";

/** The data that a response depends on. */
export interface AskedApi {
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
  /** The secret of the request, and all secrets of the API. */
  readonly secret: string;
  readonly others: readonly string[];
}

type Write = (text: string) => { readonly type: string; readonly body: string };

const inBinary: Write = (text) => ({
  type: "application/octet-stream",
  body: `\0\x01${before}${text}\0\xff${text}`,
});

const containers: readonly Write[] = [
  inBinary,
  (text) => ({ type: "text/plain", body: `${before} ${text} and after` }),
  (text) => ({
    type: "application/json",
    body: JSON.stringify({ before, list: [{ value: text, [`key ${text}`]: [text] }], next: text }),
  }),
  // The text without further encoding. The body is JSON if the form of the text is.
  (text) => ({ type: "application/json", body: `{"before":"${before}","value":"${text}","next":"${text}"}` }),
  (text) => ({
    type: "text/html; charset=utf-8",
    body: `<!doctype html><p title="${text}">${before}</p>${text}`,
  }),
  (text) => ({ type: "application/x-www-form-urlencoded", body: `a=${before}&key=${text}&b=2` }),
  (text) => ({ type: "application/problem+xml", body: `<e><b>${before}</b><v>${text}</v></e>` }),
];

type Compress = (bytes: Uint8Array) => Uint8Array;

const codings: readonly (readonly [name: string, compress: Compress])[] = [
  ["", (bytes) => bytes],
  ["gzip", gzipSync],
  ["br", (bytes) => brotliCompressSync(bytes, { params: { 1: 1 } })],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["zstd", zstdCompressSync],
  ["gzip, zstd", (bytes) => zstdCompressSync(gzipSync(bytes))],
];

/** Positions at which a body is split: none, its middle (inside of a plain secret), or six places. */
const cuts: readonly ((length: number) => readonly number[])[] = [
  () => [],
  (length) => [length >> 1],
  (length) => [...Array(6).keys()].map((at) => Math.floor((length * (at + 0.5)) / 6)),
];

const statuses = [200, 200, 200, 201, 400, 403, 500] as const;

/** All forms in one response, or one of them. */
const formChoices: readonly (readonly CanaryForm[])[] = [canaryForms, ...canaryForms.map((form) => [form])];

/** Number of plain responses: each form in each container with each content coding, split and status. */
export const plainAnswerCount =
  formChoices.length * containers.length * codings.length * cuts.length * statuses.length;

/** Coprime to the number of responses, so that any sequence of consecutive cases is mixed. */
const stride = 7919;

/** Returns the parts of plain response `number`. */
export function plainAnswer(number: number) {
  let rest = (number * stride) % plainAnswerCount;
  const pick = <T>(list: readonly T[]): T => {
    const chosen = list[rest % list.length] as T;
    rest = Math.floor(rest / list.length);
    return chosen;
  };
  const answer = {
    forms: pick(formChoices),
    container: pick(containers),
    coding: pick(codings),
    cut: pick(cuts),
    status: pick(statuses),
  };
  return { ...answer, isBinary: answer.container === inBinary };
}

/** Sends plain response `number`. */
export async function answerPlainly(number: number, { response, secret }: AskedApi): Promise<void> {
  const { forms, container, coding, cut, status } = plainAnswer(number);
  const { type, body } = container(forms.map((form) => inForm(form, secret)).join(" | "));
  const [name, compress] = coding;
  const bytes = compress(Buffer.from(body, "latin1"));
  response.writeHead(status, {
    "content-type": type,
    "x-form": forms.map((form) => inForm(form, secret)).join("|"),
    ...(name === "" ? {} : { "content-encoding": name }),
  });
  await writeCut(response, bytes, cut(bytes.length));
}

async function writeCut(
  response: ServerResponse,
  bytes: Uint8Array,
  places: readonly number[],
): Promise<void> {
  let from = 0;
  for (const at of places) {
    response.write(bytes.subarray(from, at));
    from = at;
    await nextTurn();
  }
  response.end(bytes.subarray(from));
}

type Answer = (asked: AskedApi) => void;

const json = { "content-type": "application/json" };
const plain = { "content-type": "text/plain" };
const wire = (response: ServerResponse, text: string): void => {
  response.socket?.write(Buffer.from(text, "latin1"));
  response.socket?.end();
};
/** Ends the connection with a TCP reset, which only the socket below TLS can send. */
const reset = (response: ServerResponse): void => {
  const below: unknown = response.socket === null ? undefined : Reflect.get(response.socket, "_parent");
  if (below instanceof Socket) below.resetAndDestroy();
  response.socket?.destroy();
};
const headered =
  (name: string, status: number, frame: (text: string) => string): Answer =>
  ({ response, secret }) => {
    response.writeHead(status, { ...plain, [name]: frame(secret) }).end(before);
  };
const formed = (at: number): CanaryForm => canaryForms[at % canaryForms.length] as CanaryForm;
const located =
  (status: number, locate: (secret: string, request: RecordedRequest) => string): Answer =>
  ({ response, secret, request }) => {
    response.writeHead(status, { ...plain, location: locate(secret, request) }).end(before + secret);
  };
const within =
  (type: string, encode: (text: string) => Uint8Array, status = 200): Answer =>
  ({ response, secret }) => {
    response.writeHead(status, { "content-type": type }).end(encode(`${before} ${secret}`));
  };
/** Sends a body of `type` in two pieces, with `secret` across their boundary at byte `at`. */
const across =
  (at: number, type: string, status = 200): Answer =>
  ({ response, secret }) => {
    const filler = "x".repeat(at - (secret.length >> 1));
    response.writeHead(status, { "content-type": type }).end(`${filler}${secret} and ${secret}`);
  };

/** Abnormal responses by name. */
export const oddAnswers: { readonly [name: string]: Answer } = {
  // Secrets in the head.
  ...Object.fromEntries(
    canaryForms.map((form) => [
      `reason-${form.name}`,
      ({ response, secret }: AskedApi) =>
        void response.writeHead(402, inForm(form, secret), json).end(inForm(form, secret)),
    ]),
  ),
  "header-cookie": headered("set-cookie", 200, (text) => `session=${text}; HttpOnly`),
  "header-etag": headered("etag", 200, (text) => `"${text}"`),
  "header-challenge": headered("www-authenticate", 401, (text) => `Bearer error="${text}"`),
  "header-retry": headered("retry-after", 400, (text) => text),
  "header-limit": headered("x-ratelimit-reset", 403, (text) => text),
  "header-type": headered("content-type", 200, (text) => `application/${text}`),
  "header-type-failed": headered("content-type", 500, (text) => `application/${text}; charset=${text}`),
  "header-charset": headered("content-type", 200, (text) => `text/plain; charset=${text}`),
  "header-coding": headered("content-encoding", 200, (text) => text),
  "header-disposition": headered("content-disposition", 200, (text) => `attachment; filename="${text}"`),
  "header-link": headered("link", 200, (text) => `<https://api.example/?page=${text}>; rel="next"`),
  "header-many": ({ response, secret }) => {
    for (let at = 0; at < 40; at += 1) response.appendHeader(`x-many-${at % 7}`, inForm(formed(at), secret));
    response.end(secret);
  },
  "header-early": ({ response, secret }) => {
    response.writeEarlyHints({ link: "</a>; rel=preload", "x-secret": secret });
    response.end(secret);
  },
  trailer: ({ response, secret }) => {
    response.writeHead(200, { ...plain, trailer: "x-secret" });
    response.write(before);
    response.addTrailers({ "x-secret": secret });
    response.end();
  },
  // Redirects.
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].flatMap((status) => [
      [
        `redirect-${status}-same`,
        located(status, (_, { target }) => target.replace(/odd-[^/?]*/, "landing")),
      ],
      [
        `redirect-${status}-query`,
        located(status, (secret) => `/ask/landing?q=${encodeURIComponent(secret)}`),
      ],
      [
        `redirect-${status}-other`,
        located(status, (secret) => `https://evil.example/${encodeURIComponent(secret)}?k=${btoa(secret)}`),
      ],
    ]),
  ),
  "redirect-user": located(302, (secret) => `https://${encodeURIComponent(secret)}@evil.example/`),
  "redirect-host": located(302, (secret) => `//${Buffer.from(secret).toString("hex")}.evil.example/`),
  "redirect-plain": located(302, (secret) => secret),
  "redirect-base64": located(302, (secret) => `/ask/${Buffer.from(secret).toString("base64url")}`),
  "redirect-loop": located(302, (_, { target }) => target),
  // Bodies.
  "within-utf16": within("text/plain; charset=utf-16le", (text) => Buffer.from(text, "utf16le")),
  "within-utf16-json": within("application/json; charset=utf-16le", (text) =>
    Buffer.from(JSON.stringify({ value: text }), "utf16le"),
  ),
  "within-utf16be": within("text/plain; charset=utf-16be", (text) => Buffer.from(text, "utf16le").swap16()),
  "within-utf16-failed": within("text/html; charset=utf-16le", (text) => Buffer.from(text, "utf16le"), 500),
  "within-latin": within("text/plain; charset=windows-1252", (text) => Buffer.from(`\xe9${text}`, "latin1")),
  "within-image": within("image/png", (text) => Buffer.from(`\x89PNG\0${text}\0`, "latin1")),
  "within-document": within("application/json", (text) =>
    Buffer.from(JSON.stringify({ value: Buffer.from(JSON.stringify({ v: [text] })).toString("base64") })),
  ),
  "within-lines": within("application/x-ndjson", (text) => Buffer.from(`{"a":1}\n${JSON.stringify(text)}\n`)),
  "across-text": across(102_400, "text/plain"),
  "across-failure": across(2048, "text/plain", 400),
  "across-failure-html": across(2048, "text/html", 500),
  "across-binary": across(65_536, "application/pdf"),
  "across-chunk": across(16_384, "text/plain"),
  others: ({ response, others }) => {
    response.writeHead(200, json).end(JSON.stringify({ before, value: others, next: others.join(" ") }));
  },
  number: ({ response, secret }) => {
    const digits = /^\d+$/.test(secret) ? secret : JSON.stringify(secret);
    response.writeHead(200, json).end(`{"before":"${before}","value":${digits},"next":${digits}}`);
  },
  "retried-503": ({ response, secret }) => {
    response.writeHead(503, { ...plain, "retry-after": "99999", "x-echo": secret }).end(secret);
  },
  // Malformed responses.
  "broken-json": within("application/json", (text) => Buffer.from(`{"value": "${text}`)),
  "broken-gzip": ({ response, secret }) => {
    response.writeHead(200, { ...plain, "content-encoding": "gzip" }).end(`${before} ${secret}`);
  },
  "broken-gzip-cut": ({ response, secret }) => {
    const bytes = gzipSync(`${before} ${secret}`);
    response.writeHead(200, { ...plain, "content-encoding": "gzip" });
    response.end(bytes.subarray(0, bytes.length - 9));
  },
  "broken-length": ({ response, secret }) => {
    response.writeHead(200, { ...plain, "content-length": "5000" });
    response.write(`${before} ${secret}`, () => response.socket?.end());
  },
  "broken-short": ({ response, secret }) =>
    wire(response, `HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n${secret}${secret}`),
  "broken-chunk": ({ response, secret }) =>
    wire(
      response,
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n${secret}\r\n${secret}`,
    ),
  "broken-status": ({ response, secret }) => wire(response, `${secret} HTTP/1.1 200\r\n\r\n${secret}`),
  "broken-status-line": ({ response, secret }) => wire(response, `HTTP/1.1 ${secret}\r\n\r\n`),
  "broken-header": ({ response, secret }) =>
    wire(response, `HTTP/1.1 200 OK\r\n${secret} : ${secret}\r\nx\0y: ${secret}\r\n\r\n`),
  "broken-value": ({ response, secret }) =>
    wire(response, `HTTP/1.1 200 OK\r\nx-echo: ${secret}\x01${secret}\r\ncontent-length: 0\r\n\r\n`),
  "broken-head-long": ({ response, secret }) =>
    wire(response, `HTTP/1.1 200 OK\r\nx-echo: ${`${secret} `.repeat(4000)}\r\n\r\n`),
  "broken-coding": ({ response, secret }) => {
    response.writeHead(200, { ...plain, "content-encoding": `gzip, br, ${secret}` }).end(secret);
  },
  "reset-at-once": ({ response }) => reset(response),
  "reset-in-head": ({ response, secret }) => {
    response.socket?.write(`HTTP/1.1 200 OK\r\nx-echo: ${secret}`, () => reset(response));
  },
  "reset-in-secret": ({ response, secret }) => {
    response.writeHead(200, { ...plain, "content-length": "5000" });
    response.write(`${before} ${secret.slice(0, secret.length - 2)}`, () => {
      setTimeout(() => reset(response), 5);
    });
  },
  hang: () => {},
  "hang-in-secret": ({ response, secret }) => {
    response.writeHead(200, plain).write(`${before} ${secret.slice(0, secret.length - 2)}`);
  },
};
