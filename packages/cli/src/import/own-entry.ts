/** Recognizes Toolcrib itself among the servers of a client. Pure. */

import type { ClientServer, ImportText } from "@toolcrib/clients";

/** Whether a server of a client is a gateway of Toolcrib. @param ownUrls addresses of the gateways of this home */
export function isOwnEntry({ name, transport }: ClientServer, ownUrls: readonly string[]): boolean {
  if (transport.kind !== "stdio") {
    const url = literal(transport.url);
    const isLocal = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\/mcp(?:\/[\w.-]*)?\/?$/.test(
      url,
    );
    return (
      ownUrls.some((own) => url === own || url.startsWith(`${own}/`)) || (name === "toolcrib" && isLocal)
    );
  }
  const words = [transport.command, ...transport.args].map(literal);
  const isToolcrib = words.some((word) => /(?:^|[\\/])toolcrib(?:\.js|\.cmd|\.exe|@[\w.-]+)?$/.test(word));
  return isToolcrib && words.some((word) => word === "serve" || word === "bridge");
}

function literal(text: ImportText): string {
  return text.map((part) => (typeof part === "string" ? part : "")).join("");
}
