/**
 * The pages at which the person at a client logs in to a server. They are plain HTML without scripts. What they answer
 * is decided by `LoginPages`; here a form is read, the token in it is authenticated like that of any request, and
 * everything that is shown is escaped.
 */

import type { HttpRequest, HttpResponse } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import { type Refusal, refusalError } from "./refusal.ts";
import type { Authenticate } from "./request-handler.ts";
import type { ApiRoute } from "./route-access.ts";

/** The contents of a page. */
interface LoginPage {
  readonly status: number;
  readonly text: string;
  readonly form?: { readonly ticket: string; readonly asksToken: boolean };
  readonly link?: string;
  readonly cookie?: { readonly name: string; readonly value: string; readonly maxAgeSeconds: number };
}

/** The logins that clients are asked for. */
export interface LoginPages {
  /** Called with the origin that browsers reach the gateway at. */
  open(base: string): void;
  page(ticket: string): LoginPage;
  /** @param identity that of the token in the form */
  proceed(ticket: string, identity: Identity | undefined): Promise<LoginPage>;
  /** @param cookies the header `Cookie` */
  callback(query: string, cookies: string | undefined): Promise<LoginPage>;
}

/** Bytes of a form. @limit client */
const formMaxBytes = 16 * 1024;
/** Milliseconds in which a form must arrive. @limit client */
const formTimeoutMs = 10_000;

/** Returns the routes of the pages. */
export function loginRoutes(
  pages: LoginPages,
  authenticate: Authenticate,
): { readonly [path: string]: ApiRoute } {
  return {
    "/oauth/login": {
      access: { kind: "open", hasForm: true },
      async answer(response, query) {
        const { req: request } = response;
        if (request.method !== "POST") {
          send(response, pages.page(new URLSearchParams(query).get("ticket") ?? ""));
          return undefined;
        }
        const text = await readForm(request);
        if (text === undefined) return formRefusal;
        const form = new URLSearchParams(text);
        const token = form.get("token")?.trim() ?? "";
        const found = await authenticate(token === "" ? undefined : `Bearer ${token}`);
        const identity = found !== undefined && "subject" in found ? found : undefined;
        send(response, await pages.proceed(form.get("ticket") ?? "", identity));
        return undefined;
      },
    },
    "/oauth/callback": {
      access: { kind: "open" },
      async answer(response, query) {
        send(response, await pages.callback(query, response.req.headers.cookie));
        return undefined;
      },
    },
  };
}

/** Reads a form; undefined for one that is too large, late or none. */
function readForm(request: HttpRequest): Promise<string | undefined> | string | undefined {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers["content-type"] ?? ""))
    return undefined;
  const { wholeBody } = request;
  if (wholeBody !== undefined)
    return wholeBody.length > formMaxBytes ? undefined : wholeBody.toString("utf8");
  return new Promise((resolve) => {
    let text = "";
    const late = setTimeout(() => resolve(undefined), formTimeoutMs);
    const end = (value: string | undefined) => {
      clearTimeout(late);
      resolve(value);
    };
    request.on("data", (chunk) => {
      if (text.length <= formMaxBytes) text += chunk.toString("latin1");
    });
    request.on("end", () => end(text.length > formMaxBytes ? undefined : text));
    request.on("error", () => end(undefined));
  });
}

const formRefusal: Refusal = {
  status: 400,
  error: refusalError("HTTP_FORM_INVALID", "This is not the form of the page, or it is too large"),
  headers: { connection: "close" },
};

function send(response: HttpResponse, { status, text, form, link, cookie }: LoginPage): void {
  if (response.headersSent || response.destroyed) return;
  const isSecure = link !== undefined || cookie !== undefined;
  const body = [
    "<!doctype html>",
    '<html lang="en"><meta charset="utf-8"><title>Toolcrib: log in</title>',
    `<p>${escaped(text)}</p>`,
    ...(form === undefined ? [] : formLines(form)),
    ...(link === undefined
      ? []
      : [`<p><a href="${escaped(link)}" rel="noreferrer">${escaped(new URL(link).host)}</a></p>`]),
    "</html>",
    "",
  ].join("\n");
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "content-security-policy":
      "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "cache-control": "no-store",
    // The form needs its origin as `Origin`; nothing else leaves this page with its address.
    "referrer-policy": isSecure ? "no-referrer" : "same-origin",
    "x-content-type-options": "nosniff",
    ...(cookie === undefined ? {} : { "set-cookie": cookieText(cookie, response.req) }),
  });
  response.end(response.req.method === "HEAD" ? "" : body);
}

function formLines({ ticket, asksToken }: NonNullable<LoginPage["form"]>): readonly string[] {
  return [
    '<form method="post" action="/oauth/login">',
    `<input type="hidden" name="ticket" value="${escaped(ticket)}">`,
    ...(asksToken
      ? ['<p><input type="password" name="token" autocomplete="off" aria-label="Token" required></p>']
      : []),
    '<p><button type="submit">Continue</button></p>',
    "</form>",
  ];
}

/** Only this browser continues the login. Browsers send it when the authorization server sends them back. */
function cookieText(
  { name, value, maxAgeSeconds }: NonNullable<LoginPage["cookie"]>,
  { headers }: HttpRequest,
): string {
  const isLoopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(headers.host ?? "");
  return `${name}=${value}; Path=/oauth; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isLoopback ? "" : "; Secure"}`;
}

function escaped(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
