import type { Execution, ExecutionOutcome, InnerCaller } from "../execute-composite.ts";
export interface IsolatedExecutions extends AsyncDisposable {
  execute(execution: Execution, call: InnerCaller): Promise<ExecutionOutcome>;
}
