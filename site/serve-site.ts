/** Serves a built site on loopback, as a static host does. Only for looking at it and for tests. */

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** A server of a site. */
export interface SiteServer extends AsyncDisposable {
  /** Address of the home page. */
  readonly url: string;
}

/** Starts a server of the files of `folder` below `base`. @param port 0 is a free port */
export async function startSiteServer(
  folder: string,
  { base, port }: { readonly base: string; readonly port: number },
): Promise<SiteServer> {
  const server = createServer(async (request, response) => {
    const path = decodeURI(new URL(request.url ?? "/", "http://localhost").pathname);
    const inSite = path.startsWith(base) ? normalize(`/${path.slice(base.length)}`) : "/404.html";
    const name = inSite.endsWith("/") ? `${inSite}index.html` : inSite;
    try {
      const bytes = await readFile(join(folder, name));
      response.writeHead(200, {
        "Content-Type": types[extname(name)] ?? "application/octet-stream",
        "Cache-Control": "max-age=600",
      });
      response.end(bytes);
    } catch {
      response.writeHead(404, { "Content-Type": "text/plain" });
      response.end("Not found");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}${base}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
