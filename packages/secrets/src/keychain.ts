/**
 * The keychain of the operating system, asked through the command that it comes
 * with: `security` on macOS, `secret-tool` (libsecret) on Linux. Only reads.
 * Nothing but a name is in the arguments of the command; its answer is in no
 * error.
 */

import { runCommand } from "@toolcrib/process";
import { checkSecretName, secretMaxBytes, toSecretValue } from "./secret-text.ts";
import { SecretsError } from "./secrets-error.ts";

/** What the keychain's command is run with. */
export interface KeychainDeps {
  /** Only what the command needs is passed on. */
  readonly environment: { readonly [name: string]: string | undefined };
  readonly platform: NodeJS.Platform;
}

/** Milliseconds in which a locked keychain can be opened by its owner. */
const answerMs = 60_000;

/** How one platform's keychain is asked. */
interface KeychainCommand {
  readonly command: string;
  readonly args: (name: string) => readonly string[];
  /** Whether this end of the command says that there is no such entry. */
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
    storeHint: (name) => `run security add-generic-password -s toolcrib -a ${name} -w, which asks for it`,
    installHint: "put /usr/bin on the PATH that starts Toolcrib",
  },
  linux: {
    command: "secret-tool",
    args: (name) => ["lookup", "service", "toolcrib", "account", name],
    isAbsent: (code, errors) => code === 1 && errors === "",
    storeHint: (name) =>
      `run secret-tool store --label="toolcrib ${name}" service toolcrib account ${name}, which asks for it`,
    installHint: "install secret-tool (libsecret-tools), or keep it in the secret store: toolcrib secret set",
  },
};

/** Variables by which the command finds the session of its user. */
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
 * The entry of service `toolcrib` and account `name`.
 *
 * @throws {SecretsError} `SECRETS_NOT_FOUND`, `SECRETS_KEYCHAIN_UNAVAILABLE`, `SECRETS_UNUSABLE`.
 */
export async function readKeychain(name: string, { environment, platform }: KeychainDeps): Promise<string> {
  checkSecretName(name);
  const keychain = commands[platform];
  if (keychain === undefined) {
    throw unavailable(name, `there is no support for the keychain of ${platform}`, otherPlace);
  }
  const env = Object.fromEntries(passedVariables.map((key) => [key, environment[key]]));
  const { code, stdout, stderr } = await runCommand(
    { program: keychain.command, args: keychain.args(name), env },
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

const otherPlace = "keep it in the secret store: toolcrib secret set";

function unavailable(name: string, reason: string, hint: string): SecretsError {
  return new SecretsError(
    "SECRETS_KEYCHAIN_UNAVAILABLE",
    `Cannot read secret ${JSON.stringify(name)} from the keychain: ${reason}`,
    { hint },
  );
}
