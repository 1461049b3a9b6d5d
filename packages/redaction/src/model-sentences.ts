/**
 * Patterns of sentences that are addressed to a model, in definitions and in results. An attacker can
 * avoid them, and harmless texts can match: who finds one reads the text, and decides nothing by it alone.
 */

/** Sentences addressed to a model, by what they ask for. Each pattern is linear: its gaps are limited. */
export const modelSentences: readonly (readonly [message: string, pattern: RegExp])[] = [
  [
    "it has a tag that marks instructions",
    /<\s{0,3}\/?\s{0,3}(?:important|system|instructions?|hidden|secret|admin|assistant|critical)\b[^<>]{0,40}>/i,
  ],
  [
    "it asks the model to set other instructions aside",
    /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|other|all|any|system|safety)\b.{0,30}\b(?:instruction|prompt|rule|message|guideline|restriction|polic)/i,
  ],
  [
    "it asks the model to hide something from the user",
    /\b(?:do not|don't|never|without|avoid|not)\b.{0,30}\b(?:tell|mention|inform|show|reveal|notify|ask|alert)(?:ing)?\b.{0,20}\b(?:the user|user|users|the human|human|anyone|them)\b/i,
  ],
  [
    "it asks the model to use it around the calls of other tools",
    /\b(?:before|after|whenever|every time|prior to|instead of)\b.{0,40}\b(?:using|calling|use|call|invoking|running)\b.{0,40}\b(?:tool|tools|function|functions|server)\b/i,
  ],
  [
    "it names files that hold credentials",
    /(?:~\/\.|\.ssh\b|\bid_(?:rsa|ed25519)\b|\.aws\b|\.env\b|\/etc\/(?:passwd|shadow)|\bmcp\.json\b|\.netrc\b|\.git-credentials\b|\.kube\/config)/i,
  ],
  [
    "it asks for the conversation or the system prompt",
    /\b(?:conversation|chat|message)s?\s{1,3}(?:history|transcript|log|context)\b|\bsystem\s{1,3}prompt\b|\b(?:entire|whole|full)\s{1,3}(?:conversation|chat)\b/i,
  ],
];
