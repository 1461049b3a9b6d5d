/** The profiles of Seatbelt, as texts: `sandbox-exec` exists on macOS only, where the tier tries them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { seatbeltProfile } from "@toolcrib/sandbox";
import { checkGolden } from "@toolcrib/testing";

const golden = fileURLToPath(new URL("golden/seatbelt.txt", import.meta.url));

const project = "/Users/ada/project";
const temporary = "/private/var/folders/x/T/toolcrib-sandbox-1";
const plans = {
  "nothing but the system": { readable: [], writable: [] },
  "a program of a project, with folders to read and to write": {
    readable: [project, "/opt/homebrew/Cellar/node/24.0.0"],
    writable: [`${project}/out`],
  },
  "a project that holds the configuration, a policy and variables": {
    readable: [project],
    writable: [],
    hidden: [`${project}/toolcrib.yaml`, `${project}/policies/main.cedar`, `${project}/.env`],
  },
  "the home of the user, without its credentials": {
    readable: [],
    writable: ["/Users/ada"],
    network: "allow",
  },
  'names with "quotes" and \\': { readable: ['/Users/ada/a "b" \\c'], writable: [] },
} as const;

test("the profile of each boundary is as reviewed", () => {
  const texts = Object.entries(plans).map(([name, plan]) => {
    const profile = seatbeltProfile({
      network: "network" in plan ? plan.network : "deny",
      readable: plan.readable,
      writable: [...plan.writable, `${temporary}/home`, `${temporary}/tmp`],
      hidden: ["/Users/ada/.ssh", "/Users/ada/.toolcrib", ...("hidden" in plan ? plan.hidden : [])],
      own: ["/Users/ada/.toolcrib/fetched/npm-1"],
    });
    return `; ${name}\n${profile}`;
  });
  checkGolden(golden, texts.join("\n"));
});

/** Whether a profile lets a program do something with a path: the last rule that matches decides, as in Seatbelt. */
function allows(profile: string, operation: "file-read*" | "file-write*", path: string): boolean {
  let isAllowed = false;
  for (const [, decision, operations = "", filters = ""] of profile.matchAll(
    /^\((allow|deny) ([^(\n]+?)\s*((?:\s*\((?:literal|subpath) "(?:[^"\\]|\\.)*"\))+)\)$/gm,
  )) {
    if (!operations.split(" ").includes(operation)) continue;
    const isMatched = [...filters.matchAll(/\((literal|subpath) ("(?:[^"\\]|\\.)*")\)/g)].some(
      ([, kind, text = ""]) => {
        const named = JSON.parse(text) as string;
        return path === named || (kind === "subpath" && path.startsWith(`${named}/`));
      },
    );
    if (isMatched) isAllowed = decision === "allow";
  }
  return isAllowed;
}

test("what is hidden stays hidden, whatever contains it, and what is the server's own is visible", () => {
  const profile = seatbeltProfile({
    network: "deny",
    readable: ["/Users/ada"],
    writable: ["/Users/ada/out", "/Users/ada/.toolcrib/state/s"],
    hidden: ["/Users/ada/.ssh", "/Users/ada/.toolcrib", "/Users/ada/out/keys", "/Users/ada/notes/.env"],
    own: ["/Users/ada/.toolcrib/fetched/npm-1", "/Users/ada/.toolcrib/state/s"],
  });
  const cases: readonly (readonly [path: string, access: string])[] = [
    ["/Users/ada/notes", "read"],
    ["/Users/ada/notes/.env", ""],
    ["/Users/ada/notes/.envrc", "read"],
    ["/Users/ada/.ssh", ""],
    ["/Users/ada/.ssh/id_ed25519", ""],
    ["/Users/ada/out/file", "read write"],
    ["/Users/ada/out/keys/one", ""],
    ["/Users/ada/.toolcrib/tokens/default", ""],
    ["/Users/ada/.toolcrib/fetched/npm-1/index.js", "read"],
    ["/Users/ada/.toolcrib/state/s/file", "read write"],
    ["/Users/eve/file", ""],
    ["/System/Volumes/Data/Users/ada/.ssh/id_ed25519", ""],
    ["/usr/lib/libSystem.dylib", "read"],
    ["/private/etc/master.passwd", ""],
    ["/Library/Keychains/System.keychain", ""],
    ["/dev/disk0", ""],
    ["/dev/urandom", "read"],
  ];
  for (const [path, access] of cases) {
    const found = [
      ...(allows(profile, "file-read*", path) ? ["read"] : []),
      ...(allows(profile, "file-write*", path) ? ["write"] : []),
    ];
    assert.equal(found.join(" "), access, path);
  }
});

test("a path that could end a rule is quoted or refused", () => {
  const plan = { network: "deny", writable: [], hidden: [], own: [] } as const;
  const profile = seatbeltProfile({ ...plan, readable: ['/x") (allow default) ("'] });
  assert.ok(profile.includes('(subpath "/x\\") (allow default) (\\"")'));
  assert.throws(() => seatbeltProfile({ ...plan, readable: ["/x\n(allow default)"] }), {
    code: "SANDBOX_PATH_REFUSED",
  });
});
