/** The exit codes of the command line. */
import type { RunStatus } from '@cairn/protocol';

export const exit = { ok: 0, failed: 1, usage: 2, notFound: 3, refused: 4, waiting: 5, interrupted: 130 } as const;

/** The exit code of a command that followed a run to this status. */
export function exitOfStatus(status: RunStatus): number {
  if (status === 'failed' || status === 'cancelled') return exit.failed;
  return status.startsWith('waiting-') ? exit.waiting : exit.ok;
}
