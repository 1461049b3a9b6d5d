/** The requests for one server: which hosts the operator trusts, and which certificates and proxy they use. */

import { createOAuthFetch, type OAuthFetch } from "./oauth-fetch.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";

/** Returns the function that sends the requests of OAuth for `server`. Reads the settings of the connection with the first one. */
export function oauthFetchFor(
  server: OAuthServer,
  deps: Pick<OAuthDeps, "internalRanges" | "ca">,
): OAuthFetch {
  let opening: Promise<OAuthFetch> | undefined;
  const open = async () => {
    const network = await server.network?.();
    return createOAuthFetch({
      trustedUrls: [server.url, ...(server.issuer === undefined ? [] : [server.issuer])],
      internalRanges: deps.internalRanges,
      ca: [...(deps.ca === undefined ? [] : [deps.ca]), ...(network?.ca ?? [])],
      proxy: network?.proxy,
    });
  };
  return async (url, options) => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return (await opening)(url, options);
  };
}
