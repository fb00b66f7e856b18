/** Finds one open interrupt, or says why there is none. */
import { type OpenInterrupt, quoted, type RunId, TerminalError, waitingInterrupts } from '@cairn/protocol';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunIndex } from '../../log/ports/run-index.ts';

export interface Interrupts {
  readonly log: EventLog;
  readonly runIndex: RunIndex;
  readonly loadView: LoadView;
}

/** `name` is an interrupt's id, or the node that waits. The run must exist. */
export async function openInterruptOf(
  { runIndex, loadView }: Interrupts,
  { runId, name, now }: { readonly runId: RunId; readonly name: string; readonly now: number },
): Promise<OpenInterrupt> {
  const waiting = waitingInterrupts(await loadView(runId));
  const found = waiting.find((one) => one.interruptId === name) ?? waiting.find((one) => one.nodeId === name);
  if (found === undefined) throw notOpen(await wasAsked(runIndex, runId, name), runId, name);
  if (found.expiresAt !== undefined && now >= Date.parse(found.expiresAt)) {
    throw new TerminalError('interrupt_expired', {
      message: `The interrupt ${found.interruptId} ended at ${found.expiresAt}.`,
      hint: 'It counts as rejected; start a new run.',
    });
  }
  return found;
}

async function wasAsked(runIndex: RunIndex, runId: RunId, name: string): Promise<boolean> {
  const asked = await runIndex.interrupts(runId);
  return asked.some((one) => one.interruptId === name || one.nodeId === name);
}

const notOpen = (asked: boolean, runId: RunId, name: string): TerminalError =>
  asked
    ? new TerminalError('interrupt_already_resolved', {
        message: `The interrupt ${quoted(name, 130)} of run ${runId} is not open any more.`,
        hint: 'Only the first answer counts; read the run to see where it stands.',
      })
    : new TerminalError('interrupt_not_found', {
        // Other text may be anything, also a secret.
        message: `The run ${runId} has no ${/^[\w.:-]{1,128}$/.test(name) ? `interrupt ${name}` : 'such interrupt'}.`,
        hint: 'Read the run to see what it waits for.',
      });
