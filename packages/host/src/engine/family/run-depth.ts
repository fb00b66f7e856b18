/** The refusal of a run that is too far below its root. */
import { TerminalError } from '@cairn/protocol';

export const tooDeep = (workflowId: string, depth: number, maxDepth: number): TerminalError =>
  new TerminalError('run_depth_exceeded', {
    message: `The workflow ${workflowId} would run ${depth} runs below its root; at most ${maxDepth} are allowed.`,
    hint: 'Look for a workflow that starts itself; an operator can raise limits.maxRunDepth.',
    details: { workflowId, depth, maxDepth },
  });
