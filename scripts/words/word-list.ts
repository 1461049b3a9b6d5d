/** Words that the documentation style does not use, and the terms that replace them. `check-words.ts` enforces the list. */

/** One unwanted word or phrase. */
export interface WordRule {
  /**
   * Matches the unwanted form in normalized text: lower case, one space between words, identifiers and file names
   * split into their words.
   */
  readonly pattern: RegExp;
  /** The terms to use instead. */
  readonly say: string;
}

/** Every rule, in no particular order. */
export const wordRules: readonly WordRule[] = [
  { pattern: /\bways? out\b/g, say: "egress (network), standard output, send (function)" },
  { pattern: /\bway back\b/g, say: "client channel" },
  { pattern: /\bdoors?\b/g, say: "HTTP server, listener, entry point" },
  { pattern: /\b(?:told|tells|telling)\b/g, say: "notify, emit, report, return" },
  { pattern: /\b(?:hears?|heard) of\b/g, say: "receives, is notified of" },
  { pattern: /\b(?:a|two|next|last|another) looks?\b|\blook(?:s|ed)? again\b/g, say: "scan, poll, re-check" },
  { pattern: /\b(?:take|takes|taken|took|taking) up\b/g, say: "reload, pick up, index" },
  { pattern: /\bpatient(?:ly)?\b/g, say: "lazy" },
  { pattern: /\b(?:of|by) chance\b/g, say: "random, at random" },
  { pattern: /\bmend(?:s|ed|ing)?\b/g, say: "fix, repair, normalize" },
  { pattern: /\b(?:put|puts|putting) right\b/g, say: "fix, repair, normalize" },
  {
    pattern: /\bwho(?:so)?ever\b|\bwho of\b|\bwhatever it is\b|\bwhat is there\b/g,
    say: "the client, the caller, existing entries",
  },
  { pattern: /\baskers?\b/g, say: "requester" },
  { pattern: /\baddress ?books?\b/g, say: "resolver" },
  { pattern: /\bpassages?\b/g, say: "lease" },
  {
    pattern: /(?<!\b(?:hello,?|h ello,?|open|closed) )\bworlds?\b(?! (?:readable|writable))/g,
    say: "context",
  },
  { pattern: /\bsurroundings?\b/g, say: "context, environment" },
  { pattern: /\bledgers?\b/g, say: "calls in flight" },
  { pattern: /\bstrays?\b(?! backslash)/g, say: "unexpected message" },
  { pattern: /\bgarbage\b(?! collect)/g, say: "invalid message, invalid bytes" },
  { pattern: /\b(?:come|comes|came|coming) to reach\b/g, say: "gain access, widen its reach" },
  { pattern: /\bto (?:its|their) laws?\b/g, say: "test the invariant" },
  { pattern: /\bjudge?ments?\b/g, say: "cacheFormatVersion, decision" },
  { pattern: /\bunder ?way\b/g, say: "in flight, in progress" },
  { pattern: /\bto be had\b/g, say: "available" },
  { pattern: /\bno more than that\b/g, say: "nothing else" },
  { pattern: /\bas it was seen\b/g, say: "as it was observed" },
  { pattern: /\bof (?:its|their) own making\b/g, say: "its own" },
  { pattern: /\bhouses?\b/g, say: "project, repository" },
  { pattern: /\bsees to\b/g, say: "ensures" },
];
