/** Errors in the task view: what front ends act on has the codes of the task protocol, whatever the run calls it. */
import type { ErrorObject } from '../fields.ts';
import type { JsonObject } from '../json.ts';
import { own } from './dictionary.ts';

export type ErrorInfo = { code: string; message: string; retryable: boolean; details?: JsonObject };

/** An error with any code, for example the status of a tool call. */
export type Failure = Omit<ErrorObject, 'code'> & { readonly code: string };

type Codes = Readonly<Record<string, string>>;

/** A code that is not listed is the same in both views. */
const taskCodes: Codes = {
  run_timeout: 'deadline_exceeded',
  node_timeout: 'deadline_exceeded',
  recursion_limit_exceeded: 'iteration_limit',
  loop_limit_exceeded: 'iteration_limit',
  budget_exhausted: 'budget_exceeded',
  approval_timeout: 'input_timeout',
  interrupt_timeout: 'input_timeout',
  approval_rejected: 'input_rejected',
  decision_rejected: 'input_rejected',
  child_failed: 'subtask_failed',
  unknown_child_workflow: 'subtask_failed',
  model_refused: 'llm_content_filtered',
  model_call_failed: 'llm_unavailable',
  model_not_configured: 'llm_unavailable',
  handoff_return_schema_violation: 'llm_bad_output',
  tool_diverged: 'tool_failed',
};

/** Of tool calls, and of nodes that the task view shows as such. */
const toolCodes: Codes = {
  forbidden: 'tool_forbidden',
  node_timeout: 'tool_timeout',
  http_timeout: 'tool_timeout',
  http_network_error: 'tool_unavailable',
  rate_limited: 'tool_unavailable',
  service_unavailable: 'tool_unavailable',
  node_execution_failed: 'tool_failed',
};

/** By the class of a failed model call. */
const modelCodes: Codes = {
  rate_limited: 'llm_rate_limited',
  timeout: 'llm_timeout',
  bad_stream: 'llm_bad_output',
  content_filter: 'llm_content_filtered',
  context_length: 'llm_context_overflow',
};

export type ErrorScope = 'task' | 'tool' | 'llm';

/** The code of the task view. The details keep that of the run, if it is another one. */
export function errorInfo(
  { code, message, retryable = false, details }: Failure,
  scope: ErrorScope = 'task',
): ErrorInfo {
  const shown = taskCode(code, details, scope);
  const kept = shown === code ? details : { ...details, code };
  return { code: shown, message, retryable, ...(kept !== undefined && { details: kept }) };
}

function taskCode(code: string, details: JsonObject | undefined, scope: ErrorScope): string {
  const ofTool = scope === 'tool' ? own(toolCodes, code) : undefined;
  if (ofTool !== undefined) return ofTool;
  const found = own(taskCodes, code) ?? code;
  return found === 'llm_unavailable' ? (own(modelCodes, String(details?.class)) ?? found) : found;
}

/** The text of a failed call. Every front end can tell a canceled one by it. */
export const failureText = ({ code, message }: ErrorInfo): string => (code === 'tool_canceled' ? 'canceled' : message);
