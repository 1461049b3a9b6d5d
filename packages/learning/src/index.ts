// For other packages here.
export { forgetLearned, listLearned } from "./forget-learned.ts";
export { SearchLearning } from "./search-learning.ts";
