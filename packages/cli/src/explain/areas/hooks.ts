/** Explanations of the codes of the package hooks. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { serverFile } from "../samples.ts";

export const explanations: Explanations = {
  HOOK_DENIED: {
    cause:
      "A program or URL of hooks.before_call looked at the call and refused it. The reason after the colon comes from the hook.",
    files: {
      ...serverFile(
        "notes",
        [],
        "hooks:\n  before_call:\n    - { name: no-milk, command: sh, args: [no-milk.sh], cwd: . }\n",
      ),
      "no-milk.sh": 'echo \'{"decision": "deny", "message": "milk is not allowed"}\'\n',
    },
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Do what the hook says, such as another branch. The operator finds the hook by its name in hooks.before_call of the configuration and can change its rules or its match.",
  },
  HOOK_FAILED: {
    cause:
      "A hook of hooks.before_call did not answer in time, ended with an error, or could not be started. A call that was not checked is not made.",
    files: {
      ...serverFile(
        "notes",
        [],
        "hooks:\n  before_call:\n    - { name: no-milk, command: sh, args: [no-milk.sh], cwd: . }\n",
      ),
      "no-milk.sh": "exit 3\n",
    },
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Look at the log of the hook in the folder logs of the home, start its command by hand with the input that the log shows, and repair it. toolcrib doctor checks that the commands of hooks exist. A hook that may fail can have on_error: allow.",
  },
  RESULT_WITHHELD: {
    cause:
      "The tool ran, and a hook of hooks.after_call refused the result, or could not check it. The result is withheld, and the effect of the call is not undone.",
    files: {
      ...serverFile(
        "notes",
        [],
        "hooks:\n  after_call:\n    - { name: privacy, command: sh, args: [privacy.sh], cwd: . }\n",
      ),
      "privacy.sh": 'echo \'{"decision": "deny", "message": "the result names a person"}\'\n',
    },
    run: "toolcrib call notes:search --arg query=milk",
    fix: "Ask for less, so that the result has nothing that the hook refuses. If the hook failed, repair it as for HOOK_FAILED. Do not repeat a call that writes.",
  },
};
