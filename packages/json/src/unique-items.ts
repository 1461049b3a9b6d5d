/** The keyword `uniqueItems`: Ajv and many others compare all pairs. Pure. */

import { canonicalJson } from "./canonical-json.ts";
import type { StepBudget } from "./step-budget.ts";

/** Whether no two items are equal JSON; compares canonical texts, in linear time. */
export function hasUniqueItems(items: readonly unknown[], budget: StepBudget): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = canonicalJson(item);
    budget.spend(1 + text.length / 64);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}
