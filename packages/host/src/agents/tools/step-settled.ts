/** How the work of a step ended, in a form that can be recorded. */
import { TerminalError } from '@cairn/protocol';
import type { Redactor } from '../../engine/ports.ts';
import { type JsonResult, jsonResult } from './json-result.ts';
import { type Settled, toolError } from './tool-error.ts';

/** Largest result of a step. Each is a row, and all rows of a call are loaded when it is entered again. */
const MAX_STEP_BYTES = 120_000;

const MAX_STEP_NAME = 200;

export function checkStepName(toolId: string, name: unknown): void {
  if (typeof name === 'string' && name !== '' && name.length <= MAX_STEP_NAME) return;
  const message = `A step of ${toolId} needs a name of at most ${MAX_STEP_NAME} characters.`;
  throw new TerminalError('tool_failed', { message });
}

/** Asks for the redactor after the work, which may have got a credential. */
export async function settledStep(
  name: string,
  work: () => unknown,
  redactor: () => Redactor | null,
): Promise<Settled> {
  try {
    const result = recordableResult(await work(), MAX_STEP_BYTES, redactor());
    if ('json' in result) return { outcome: result.json };
    const step = JSON.stringify(redactor()?.text(name) ?? name);
    const message = `The result of the step ${step} cannot be recorded: ${result.problem}.`;
    return { error: { code: 'tool_failed', message, retryable: false } };
  } catch (error) {
    return { error: toolError(error, redactor()) };
  }
}

/** Redacts the value. A marker may be longer than its secret, so the size is checked again. */
export function recordableResult(value: unknown, maxBytes: number, redactor: Redactor | null): JsonResult {
  const result = jsonResult(value, maxBytes);
  if ('problem' in result) return { problem: redactor?.text(result.problem) ?? result.problem };
  const clean = redactor === null ? result.json : redactor.value(result.json);
  return clean === result.json ? result : jsonResult(clean, maxBytes);
}
