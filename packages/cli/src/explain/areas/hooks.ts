/** Explanations of the codes of the package hooks. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  HOOK_DENIED: {
    cause:
      "A program or URL of hooks.before_call looked at the call and refused it. The reason after the colon comes from the hook.",
    did: "A hook that forbids pushes to main is asked about git:push.",
    prints: '"git:push" was not called: the hook "no-main" refused it: pushes to main need a pull request',
    unrun: "running",
    fix: "Do what the hook says, such as another branch. The operator finds the hook by its name in hooks.before_call of the configuration and can change its rules or its match.",
  },
  HOOK_FAILED: {
    cause:
      "A hook of hooks.before_call did not answer in time, ended with an error, or could not be started. A call that was not checked is not made.",
    did: "The program of a hook is not installed on the machine of the gateway.",
    prints: '"git:push" was not called: the hook "no-main" did not check it: it did not answer within 5 s',
    unrun: "running",
    fix: "Look at the log of the hook in the folder logs of the home, start its command by hand with the input that the log shows, and repair it. toolcrib doctor checks that the commands of hooks exist. A hook that may fail can have on_error: allow.",
  },
  RESULT_WITHHELD: {
    cause:
      "The tool ran, and a hook of hooks.after_call refused the result, or could not check it. The result is withheld, and the effect of the call is not undone.",
    did: "A hook that looks for personal data finds some in the result of crm:export.",
    prints:
      '"crm:export" was called, and its result is withheld: the hook "privacy" refused it\ndo not repeat the call only for that: it was made, and can have had an effect',
    unrun: "running",
    fix: "Ask for less, so that the result has nothing that the hook refuses. If the hook failed, repair it as for HOOK_FAILED. Do not repeat a call that writes.",
  },
};
