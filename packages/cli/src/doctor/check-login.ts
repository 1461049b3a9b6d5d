/** Checks the login of the gateway to a server with OAuth, as the store has it. Asks nobody. */

import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { oauthSettingsOf, openOAuthDeps } from "../login/oauth-context.ts";
import { safeLine } from "../output/output.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

/** Returns the finding about the login of `server`; undefined for a server that needs none. */
export async function checkLogin(
  context: CliContext,
  config: GatewayConfig,
  server: ToolServerConfig,
): Promise<Finding | undefined> {
  const settings = oauthSettingsOf(context, server);
  if (settings === undefined || settings.grant === "client_credentials") return undefined;
  const subject = `login ${server.id}`;
  const command = `toolcrib login ${server.id}`;
  try {
    await using deps = await openOAuthDeps(context, config);
    const { readLoginState } = await import("@toolcrib/oauth");
    const { kind, issuer, scopes, missingScopes, expiresAt, canRefresh } = await readLoginState(
      settings,
      deps,
    );
    if (kind === "login needed") return failed(subject, "nobody is logged in", command);
    if (missingScopes.length > 0) {
      return warning(
        subject,
        `calls needed the scopes ${safeLine(missingScopes.join(" "))}, which it does not have`,
        command,
      );
    }
    const until = canRefresh || expiresAt === undefined ? "" : ` until ${new Date(expiresAt).toISOString()}`;
    const withScopes = scopes.length === 0 ? "" : `, scopes ${safeLine(scopes.join(" "))}`;
    return ok(subject, `logged in at ${safeLine(issuer ?? "")}${withScopes}${until}`);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return failed(subject, error.message, error.hint);
  }
}
