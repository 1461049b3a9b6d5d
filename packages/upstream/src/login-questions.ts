/**
 * Asks the person at the client of a call to log in, where a request to the server failed because a login is missing:
 * with a page to visit, for clients that take those (MCP elicitation, mode `url`). A client of the modern era gets the
 * page as a question of the call, an older one as the error that says so (-32042); both repeat the call. Every other
 * client gets the failure, which names the command.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { CallContext } from "@toolcrib/tool";
import { canAnswer, questionResult, readState } from "./input-required.ts";
import { urlElicitationRequired } from "./session-calls.ts";
import { UpstreamError } from "./upstream-error.ts";

/** A page at which a person can log in. */
export interface LoginQuestion {
  readonly id: string;
  readonly url: string;
  /** Resolves with whether the login exists now. Never rejects. */
  readonly settled: Promise<boolean>;
}

/**
 * Returns the page for the client of a call that failed; undefined where its failure has another reason, or the client
 * is not to be asked.
 *
 * @param isUnavailable whether the server could not be used at all
 */
export type AskForLogin = (
  context: Pick<CallContext, "identity">,
  isUnavailable: boolean,
) => Promise<LoginQuestion | undefined> | undefined;

/** The key of the question. */
const questionKey = "login";
const question = "elicitation/create";
/** Milliseconds that a repeated call waits for a login that is not complete. */
const completionWaitMs = 10_000;
/** Codes of failures that a missing login can cause. */
const loginCodes: readonly string[] = ["UPSTREAM_UNAVAILABLE", "MCP_CREDENTIALS_UNAVAILABLE"];

/** Makes a request whose client may be asked to log in. @param send makes it */
export async function withLoginQuestion(
  serverId: string,
  askForLogin: AskForLogin,
  context: CallContext,
  send: (context: CallContext) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { rounds } = context;
  const isAnswer = readState(rounds?.state, serverId)?.isLogin === true;
  if (isAnswer) await untilLoggedIn(serverId, askForLogin, context);
  const { state: _state, responses: _responses, ...kept } = rounds ?? {};
  try {
    return await send(isAnswer ? { ...context, rounds: kept } : context);
  } catch (error) {
    const asked = await questionAbout(error, askForLogin, context);
    if (asked === undefined) throw error;
    const message = `The server "${serverId}" needs you to log in`;
    const { id, url, settled } = asked;
    if (rounds !== undefined) {
      const params = { mode: "url", message, url };
      return questionResult(
        { [questionKey]: { method: question, params } },
        { server: serverId, isLogin: true },
      );
    }
    const { session } = context;
    // It never rejects, and a session that closes meanwhile takes no notification.
    void settled.then((isStored) => {
      if (isStored && session?.closed.aborted === false)
        session.notify("notifications/elicitation/complete", { elicitationId: id });
    });
    throw new UpstreamError("UPSTREAM_LOGIN_NEEDED", message, {
      cause: error,
      hint: isCodedError(error) ? error.hint : undefined,
      data: {
        server: serverId,
        rpcCode: urlElicitationRequired,
        rpcData: { elicitations: [{ mode: "url", elicitationId: id, url, message }] },
      },
    });
  }
}

/** Waits a while for the login of a client that said that its person visits the page. @throws {UpstreamError} where it declined */
async function untilLoggedIn(
  serverId: string,
  askForLogin: AskForLogin,
  context: CallContext,
): Promise<void> {
  const answer = context.rounds?.responses?.[questionKey];
  const action = isJsonObject(answer) ? answer["action"] : undefined;
  if (action !== "accept") {
    throw new UpstreamError("UPSTREAM_LOGIN_NEEDED", `The login to the server "${serverId}" was declined`, {
      data: { server: serverId },
    });
  }
  const asked = await askForLogin(context, false);
  if (asked === undefined) return;
  const { signal } = context;
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, completionWaitMs);
  const stop = () => late.resolve();
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([asked.settled, late.promise]);
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
}

async function questionAbout(
  error: unknown,
  askForLogin: AskForLogin,
  context: CallContext,
): Promise<LoginQuestion | undefined> {
  const { era, rounds, signal, clientCapabilities, session } = context;
  // A call of a modern client within a composite tool has no rounds, and its client takes no error for a question.
  if (era === "modern" && rounds === undefined) return undefined;
  if (!isCodedError(error) || !loginCodes.includes(error.code) || signal.aborted) return undefined;
  const capabilities = clientCapabilities ?? session?.capabilities ?? {};
  if (!canAnswer(capabilities, question, { mode: "url" })) return undefined;
  return await askForLogin(context, error.code === "UPSTREAM_UNAVAILABLE");
}
