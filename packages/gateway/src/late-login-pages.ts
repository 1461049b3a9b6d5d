/**
 * The login pages of a server that listens before it is known whether there are any: they come with the first server that
 * clients log in to, which a changed configuration can add. Until then, no page is known.
 */

import type { HttpServerDeps } from "@toolcrib/http";
import type { Identity } from "@toolcrib/tool";

type LoginPages = NonNullable<HttpServerDeps["logins"]>;
type LoginPage = ReturnType<LoginPages["page"]>;

const unknown: LoginPage = { status: 404, text: "This gateway has no login that waits." };

/** Login pages that come later, or never. */
export class LateLoginPages implements LoginPages {
  #pages: LoginPages | undefined;
  #base: string | undefined;

  /** Shows `pages` from now on. */
  use(pages: LoginPages): void {
    this.#pages = pages;
    if (this.#base !== undefined) pages.open(this.#base);
  }

  open(base: string): void {
    this.#base = base;
    this.#pages?.open(base);
  }

  page(ticket: string): LoginPage {
    return this.#pages?.page(ticket) ?? unknown;
  }

  async proceed(ticket: string, identity: Identity | undefined): Promise<LoginPage> {
    return (await this.#pages?.proceed(ticket, identity)) ?? unknown;
  }

  async callback(query: string, cookies: string | undefined): Promise<LoginPage> {
    return (await this.#pages?.callback(query, cookies)) ?? unknown;
  }
}
