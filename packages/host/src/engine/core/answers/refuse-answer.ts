/** The error for an answer that does not match its interrupt. */
import { TerminalError } from '@cairn/protocol';

export const answerRefused = (interruptId: string, problems: readonly string[]): TerminalError =>
  new TerminalError('validation_error', {
    message: `The answer to ${interruptId} does not fit: ${problems.join('; ')}.`,
    hint: 'The interrupt stays open. Its data and resumeSchema say what an answer looks like.',
    details: { interruptId, problems },
  });

/** Throws if there are any problems. */
export function refuseProblems(interruptId: string, problems: readonly string[]): void {
  if (problems.length > 0) throw answerRefused(interruptId, problems);
}
