/** Results that are too large for an event: an artifact holds them, and the record refers to it. */

import { MAX_VALUE_BYTES, withoutLarge } from '../../engine/values/large-values.ts';
import type { ArtifactCall, ArtifactPort } from './artifact-port.ts';
import { MAX_RESULT_BYTES } from './json-result.ts';
import { RemoteResult } from './remote-result.ts';
import { recordableResult } from './step-settled.ts';
import type { Tool, ToolOutcome } from './tool.ts';
import { failed, toolError } from './tool-error.ts';

export interface ResultPorts {
  readonly artifacts: ArtifactPort;
  /** The call whose result it is. */
  readonly call: ArtifactCall;
  /** Whether the function is still awaited. */
  readonly isAwaited: () => boolean;
}

/** The outcome of a call that returned this value. */
export async function resultOf(tool: Tool, returned: unknown, ports: ResultPorts): Promise<ToolOutcome> {
  if (!(returned instanceof RemoteResult)) return recorded(tool, returned, ports);
  const { end, remote } = returned;
  const outcome =
    'value' in end
      ? await recorded(tool, end.value, ports)
      : failed(end.error.code, toolError(end.error, ports.call.redactor).message, end.error.retryable);
  return remote === undefined ? outcome : { ...outcome, remote };
}

type Ended = Extract<ToolOutcome, { kind: 'result' | 'failed' }>;

async function recorded(tool: Tool, value: unknown, ports: ResultPorts): Promise<Ended> {
  const { id } = tool;
  const { artifacts, call } = ports;
  const { redactor } = call;
  const small = recordableResult(value, MAX_RESULT_BYTES, redactor);
  const result = 'json' in small ? small : recordableResult(value, MAX_VALUE_BYTES, redactor);
  if ('problem' in result) return failed('tool_failed', `The result of ${id} cannot be recorded: ${result.problem}.`);
  const problems = tool.outputProblems(result.json);
  if (problems.length > 0) {
    const why = redactor?.text(problems.join('; ')) ?? problems.join('; ');
    return failed('tool_failed', `The result of ${id} breaks its own schema: ${why}.`);
  }
  if (result === small || !ports.isAwaited()) return { kind: 'result', value: result.json };
  const reference = await withoutLarge(result.json, MAX_RESULT_BYTES, (text, place) =>
    artifacts.value(call, text, place),
  );
  return { kind: 'result', value: reference };
}
