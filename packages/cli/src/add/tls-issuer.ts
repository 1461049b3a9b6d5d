/** Asks a host for its certificate, and says who issued it. One connection, nothing is sent in it. */

import { isIP } from "node:net";
import { connect } from "node:tls";

/** Milliseconds for the handshake. */
const handshakeMaxMs = 10_000;
const nameMaxLength = 100;

/** Returns the issuer of the certificate, or why it is not known; undefined for a URL without TLS. */
export async function describeTls(url: URL, signal: AbortSignal): Promise<string | undefined> {
  if (url.protocol !== "https:") return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({
    host,
    port: url.port === "" ? 443 : Number(url.port),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    // The trial decides whether the certificate is trusted. Here its text is shown.
    rejectUnauthorized: false,
  });
  const stop = () => resolve("the issuer of its certificate is not known: the command was stopped");
  signal.addEventListener("abort", stop, { once: true });
  socket.setTimeout(handshakeMaxMs, () =>
    resolve("the issuer of its certificate is not known: it does not answer"),
  );
  socket.once("error", ({ code = "" }: NodeJS.ErrnoException) => {
    const why = code.startsWith("ERR_SSL")
      ? "it does not speak TLS"
      : `there is no connection${code === "" ? "" : ` (${code})`}`;
    resolve(`the issuer of its certificate is not known: ${why}`);
  });
  socket.once("secureConnect", () => {
    const { issuer, valid_to: end } = socket.getPeerCertificate();
    const name =
      [issuer?.O, issuer?.CN].flat().find((one) => typeof one === "string" && one !== "") ?? "nobody";
    const state = socket.authorized ? "" : ", which this machine does not trust";
    resolve(
      `its certificate is by ${name.slice(0, nameMaxLength)}${state}, valid until ${end ?? "an unknown day"}`,
    );
  });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}
