/**
 * Reads the keychain of the operating system through its command: `security` on
 * macOS, `secret-tool` (libsecret) on Linux. Never writes to it. The arguments of
 * the command contain no secret, and no error contains its output.
 */

import { runCommand } from "@toolcrib/process";
import { checkSecretName, secretMaxBytes, toSecretValue } from "./secret-text.ts";
import { SecretsError } from "./secrets-error.ts";

/** Dependencies of the keychain command. */
export interface KeychainDeps {
  /** Only the variables that the command needs are passed to it. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly platform: NodeJS.Platform;
  /** Fails without running the command, which can ask its user. */
  readonly withoutKeychain?: boolean | undefined;
}

/** Longest wait, so that the owner can unlock the keychain. */
const answerMs = 60_000;

/** The keychain command of one platform. */
interface KeychainCommand {
  readonly command: string;
  readonly args: (name: string) => readonly string[];
  /** Returns whether the exit code and the error output mean that the entry does not exist. */
  readonly isAbsent: (code: number, errors: string) => boolean;
  readonly storeHint: (name: string) => string;
  readonly installHint: string;
}

const commands: { readonly [platform: string]: KeychainCommand } = {
  darwin: {
    command: "security",
    args: (name) => ["find-generic-password", "-s", "toolcrib", "-a", name, "-w"],
    // errSecItemNotFound
    isAbsent: (code) => code === 44,
    storeHint: (name) =>
      `run security add-generic-password -s toolcrib -a ${name} -w, which prompts for the value`,
    installHint: "put /usr/bin on the PATH that starts Toolcrib",
  },
  linux: {
    command: "secret-tool",
    args: (name) => ["lookup", "service", "toolcrib", "account", name],
    isAbsent: (code, errors) => code === 1 && errors === "",
    storeHint: (name) =>
      `run secret-tool store --label="toolcrib ${name}" service toolcrib account ${name}, which prompts for the value`,
    installHint:
      "install secret-tool (libsecret-tools), or store it in the secret store: toolcrib secret set",
  },
};

/** Environment variables that the command needs to find the login session of the user. */
const passedVariables = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
];

/**
 * Returns the entry of service `toolcrib` and account `name`.
 *
 * @throws {SecretsError} `SECRETS_NOT_FOUND`, `SECRETS_KEYCHAIN_UNAVAILABLE`, `SECRETS_UNUSABLE`.
 */
export async function readKeychain(
  name: string,
  { env, platform, withoutKeychain }: KeychainDeps,
): Promise<string> {
  checkSecretName(name);
  if (withoutKeychain === true) throw unavailable(name, "it is not asked here", otherPlace);
  const keychain = commands[platform];
  if (keychain === undefined) {
    throw unavailable(name, `the keychain of ${platform} is not supported`, otherPlace);
  }
  const passed = Object.fromEntries(passedVariables.map((key) => [key, env[key]]));
  const { code, stdout, stderr } = await runCommand(
    { program: keychain.command, args: keychain.args(name), env: passed },
    { timeoutMs: answerMs, outputMaxBytes: 2 * secretMaxBytes },
  );
  if (code === "ENOENT") {
    throw unavailable(name, `the command ${keychain.command} is not found`, keychain.installHint);
  }
  if (code === 0) return toSecretValue(stdout, `the entry ${JSON.stringify(name)} of the keychain`);
  if (typeof code === "number" && keychain.isAbsent(code, stderr.trim())) {
    throw new SecretsError(
      "SECRETS_NOT_FOUND",
      `Cannot find secret ${JSON.stringify(name)} in the keychain`,
      {
        hint: keychain.storeHint(name),
      },
    );
  }
  throw unavailable(name, `${keychain.command} failed (${code})`, otherPlace);
}

const otherPlace = "use the secret store instead: toolcrib secret set";

function unavailable(name: string, reason: string, hint: string): SecretsError {
  return new SecretsError(
    "SECRETS_KEYCHAIN_UNAVAILABLE",
    `Cannot read secret ${JSON.stringify(name)} from the keychain: ${reason}`,
    { hint },
  );
}
