/** Refuses to put a value that is not sealed into a sensitive variable. */
import { type Json, TerminalError } from '@cairn/protocol';
import type { NodeContext } from '../workflow/node-type.ts';
import { isReference } from './references.ts';

/**
 * Throws `config_validation_failed`. The value is in the log already, as an output or an answer, so the mark of the
 * variable would promise too much.
 */
export function refusePlain({ compiled, node, state }: NodeContext, name: string, next: Json): void {
  const { variables } = compiled.definition;
  if (next === null || !variables.some((variable) => variable.name === name && variable.sensitive === true)) return;
  if (isReference(next) && Object.hasOwn(state.sealed ?? {}, next)) return;
  throw new TerminalError('config_validation_failed', {
    message: `Node ${node.id} cannot set the sensitive variable ${name}: the value is not sealed, so the log holds it already.`,
    hint: 'Set it from another sensitive variable, or from an output of a step that outputSensitivity marks as sensitive.',
    details: { nodeId: node.id, variable: name },
  });
}
