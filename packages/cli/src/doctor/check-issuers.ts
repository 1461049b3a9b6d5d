/** Checks that the issuers of `serve.auth` can be reached and have keys, from this terminal. Sends no token and no secret. */

import type { GatewayConfig } from "@toolcrib/config";
import { readCertificateFile } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { safeLine } from "../output/output.ts";
import { type Finding, failed, ok } from "./check.ts";

/** Returns a finding for each issuer. */
export async function checkIssuers(
  context: CliContext,
  { serve, egress }: Pick<GatewayConfig, "serve" | "egress">,
): Promise<Finding[]> {
  const { oauth } = serve;
  if (oauth === undefined) return [];
  const { ClientTokens } = await import("@toolcrib/oauth");
  const { env, now, signal } = context;
  const certificates = env["SSL_CERT_FILE"] ?? "";
  const file = certificates === "" ? undefined : await readCertificateFile(certificates);
  // Introspection is not tried: it would need the secret, and a token.
  const issuers = oauth.issuers.map(({ introspection, ...issuer }) => ({
    ...issuer,
    introspection: introspection && {
      url: introspection.url,
      clientId: introspection.clientId,
      clientSecret: async () => "",
    },
  }));
  const tokens = new ClientTokens(issuers, {
    now,
    logger: createCommandLogger(context, "silent"),
    learn() {},
    scrub: (text) => text,
    internalRanges: egress.internalRanges,
    ca: file?.kind === "read" ? file.pem : undefined,
  });
  const problems = await tokens.problems(signal);
  return issuers.map(({ issuer }) => {
    const problem = problems.get(issuer);
    const subject = `issuer ${issuer}`;
    return problem === undefined
      ? ok(subject, "its keys can be read")
      : failed(
          subject,
          `its tokens cannot be checked: ${safeLine(problem)}`,
          "check serve.auth.jwt, and the connection of this machine to the issuer",
        );
  });
}
