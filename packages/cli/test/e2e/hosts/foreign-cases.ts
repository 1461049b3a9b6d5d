/** Requests of the foreign client to the proxy, and the expected outcomes. */

import {
  benignNames,
  caseHost,
  connectCases,
  type DnsCase,
  hostTexts,
  insideCases,
  insideHttp2Cases,
} from "@toolcrib/testing";

/** The data that the client sends; bytes and names in base64. */
export type ForeignCase =
  /** Bytes for the proxy itself. */
  | { readonly kind: "raw"; readonly bytes: string }
  /** The start of a TLS handshake in a tunnel to `authority`, for any server name. */
  | { readonly kind: "hello"; readonly authority: string; readonly serverName: string }
  /** Bytes in a tunnel, after a complete handshake. */
  | {
      readonly kind: "inside";
      readonly authority: string;
      readonly serverName: string;
      readonly bytes: string;
    }
  | {
      readonly kind: "http2";
      readonly authority: string;
      readonly serverName: string;
      readonly headers: { readonly [name: string]: string };
    };

/** A status; `accepted` for a handshake that continued; or the outcome of a CONNECT that was refused. */
export type ForeignOutcome = number | "closed" | "reset" | "accepted" | `CONNECT ${number | string}`;

/** A case, and a check of its outcome. */
export interface ForeignRow {
  readonly say: ForeignCase;
  /** A readable form of the case for failure messages. */
  readonly title: string;
  isRight(outcome: ForeignOutcome): boolean;
}

const connected = { authority: `${caseHost}:443`, serverName: caseHost };
const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
/** The bytes of `text` in UTF-8, as the HTTP/2 client of Node sends them. */
const utf8Bytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const isRefusal = (outcome: ForeignOutcome) => typeof outcome !== "number" || outcome >= 400;
const isStatus = (status: number) => (outcome: ForeignOutcome) => outcome === status;

/** The tunnel host as a header contains it: leading and trailing blanks are removed, and a line break ends it. */
const isCaseHost = (text: string) =>
  (text.split(/[\r\n]/)[0] ?? "").replace(/^[ \t]+|[ \t]+$/g, "").toLowerCase() === caseHost;

function raw(title: string, text: string, isRight: ForeignRow["isRight"] = isRefusal): ForeignRow {
  return { title, say: { kind: "raw", bytes: base64(text) }, isRight };
}

function inside(title: string, lines: readonly string[], isRight: ForeignRow["isRight"]): ForeignRow {
  const text = [...lines, "Connection: close", "", ""].join("\r\n");
  return { title, say: { kind: "inside", ...connected, bytes: base64(text) }, isRight };
}

/** CONNECT requests for each host in each form. */
export const connectRows: readonly ForeignRow[] = [
  ...hostTexts.map((text) => {
    const authority = /:[^\]]*$/.test(text) ? text : `${text}:443`;
    return raw(
      `CONNECT ${authority}`,
      `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
      // A second blank after the method is accepted, and is not part of the host.
      (outcome) => isRefusal(outcome) || text === ` ${caseHost}`,
    );
  }),
  ...connectCases.map(({ authority, headers = [`Host: ${authority}`], status }) => {
    const text = [`CONNECT ${authority} HTTP/1.1`, ...headers, "", ""].join("\r\n");
    return raw(text, text, isStatus(status));
  }),
];

/** Requests to the proxy without a tunnel, and data that is not HTTP. */
export const plainRows: readonly ForeignRow[] = [
  ...hostTexts.map((text) =>
    raw(`GET http://${text}/`, `GET http://${text}/ HTTP/1.1\r\nHost: ${caseHost}\r\n\r\n`),
  ),
  ...[
    `GET https://${caseHost}/ HTTP/1.1\r\nHost: ${caseHost}\r\n\r\n`,
    `GET http://${caseHost}/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n`,
    `GET http://127.0.0.1/\r\n\r\n`,
    `connect 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    `CONNECT 127.0.0.1:443 HTTP/1.0\r\n\r\n`,
    `CONNECT 127.0.0.1:443\r\n\r\n`,
    `CONNECT  127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: ${caseHost}\r\n\r\nCONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    `GET /\r\nHost: 127.0.0.1 HTTP/1.1\r\n\r\n`,
    `OPTIONS http://127.0.0.1:8080/ HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\x04\x01\x01\xbb\x7f\x00\x00\x01\x00",
    "\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x1f\x90\r\n\r\n",
    "PROXY TCP4 127.0.0.1 127.0.0.1 1 8080\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
  ].map((text) => raw(text, text)),
];

/** TLS handshakes in a tunnel for each name, including some that no library sends. */
export const handshakeRows: readonly ForeignRow[] = [
  ...hostTexts.filter((text) => text !== "" && Buffer.byteLength(text) <= 1000),
  ...["127.0.0.1", "::1", `${caseHost}\0`, `evil.example\0${caseHost}`, "a".repeat(300)],
  ...[caseHost, caseHost.toUpperCase()],
].map((name) => ({
  title: `SNI ${name}`,
  say: { kind: "hello", authority: connected.authority, serverName: base64(name) },
  isRight: (outcome) => outcome === (name.toLowerCase() === caseHost ? "accepted" : "closed"),
}));

/** HTTP/1.1 requests in a tunnel. */
export const insideRows: readonly ForeignRow[] = [
  ...hostTexts.map((text) =>
    inside(`Host: ${text}`, ["GET / HTTP/1.1", `Host: ${text}`], (outcome) =>
      isCaseHost(text) ? true : isRefusal(outcome),
    ),
  ),
  ...hostTexts.map((text) =>
    inside(`GET https://${text}/`, [`GET https://${text}/ HTTP/1.1`, `Host: ${caseHost}`], isRefusal),
  ),
  ...insideCases.map(({ lines, status }) => inside(lines.join(" | "), lines, isStatus(status))),
];

/** HTTP/2 requests in a tunnel. */
export const http2Rows: readonly ForeignRow[] = [
  ...hostTexts.map((text) => ({ headers: { ":authority": utf8Bytes(text) }, isRight: isRefusal })),
  ...insideHttp2Cases.map(({ headers, status }) => ({
    headers,
    isRight: (outcome: ForeignOutcome) => outcome === status,
  })),
].map(({ headers, isRight }) => ({
  title: JSON.stringify(headers),
  say: { kind: "http2", ...connected, headers },
  isRight,
}));

/** Tunnels to hosts that DNS resolves to internal addresses, requested once for each different answer. */
export function dnsRows(cases: readonly DnsCase[]): readonly ForeignRow[] {
  return cases.map(({ host, answers }): ForeignRow => {
    const bytes = base64(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return {
      title: `${host} ${JSON.stringify(answers)}`,
      say: { kind: "inside", authority: `${host}:443`, serverName: host, bytes },
      // The first answer may be an allowed address on which nothing listens.
      isRight: (outcome) => outcome === 403 || (answers.length > 1 && outcome === 502),
    };
  });
}

/** Hosts that the client reaches. */
export const benignRows: readonly ForeignRow[] = benignNames.map((host) => ({
  title: host,
  say: {
    kind: "inside",
    authority: `${host}:443`,
    serverName: host,
    bytes: base64(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  },
  isRight: isStatus(200),
}));
