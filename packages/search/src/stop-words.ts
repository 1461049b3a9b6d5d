/**
 * English words without information about a tool. They are indexed like any other
 * word but removed from queries, unless a query contains nothing else.
 *
 * Verbs of tools (get, make, use) and words in parameter names (all, after,
 * before, each, more, off, other, over, under, up, down) are not stop words.
 */

const words = `
a about am an and any are as at be been being but by can could did do does doing
for from had has have having he her him his how i if in into is it its just let
me my of on or our ours please shall she should so some such than that the their
them then there these they this those to us very was we were what when where
which who whom why will with would you your yours
can't couldn't didn't doesn't don't hasn't haven't i'd i'll i'm i've isn't it's
let's that's there's we'd we'll we're we've what's won't wouldn't you're
`;

/** The stop words in lower case, in the form of `scanWords`. */
export const stopWords: ReadonlySet<string> = new Set(words.trim().split(/\s+/));
