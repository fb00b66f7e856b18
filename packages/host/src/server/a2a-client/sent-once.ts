/** Sends a message to a peer once: after a failure it finds out first whether the message has arrived. */
import { TerminalError } from '@cairn/protocol';
import { RequestFailure } from './peer-error.ts';
import type { PeerSettings } from './peer-settings.ts';
import type { OutboundMessage, PeerTask } from './peer-task.ts';
import type { RemoteTask } from './remote-task.ts';

export interface Sending {
  readonly message: OutboundMessage;
  readonly task: RemoteTask;
  /** An earlier process may have sent it. */
  readonly mayBeSent: boolean;
  /** No other task can be in the context of the message. */
  readonly isOnly: boolean;
}

/** Times that a message is tried. */
const MAX_TRIES = 5;

/** Folds in the first update of the task. Throws errors of the host. */
export async function sentOnce(peer: PeerTask, sending: Sending, settings: PeerSettings): Promise<void> {
  let { mayBeSent } = sending;
  for (let tries = 1; ; tries++) {
    try {
      if (mayBeSent && (await hasArrived(peer, sending, settings))) return;
      await peer.send(sending.message, sending.task);
      return;
    } catch (error) {
      if (!(error instanceof RequestFailure) || !error.error.retryable || tries === MAX_TRIES) throw error;
      mayBeSent ||= !error.isUnsent;
      await peer.pause(tries);
    }
  }
}

/** Whether the peer has the message. Throws if it cannot be told, and the peer may take it twice. */
async function hasArrived(
  peer: PeerTask,
  { message, task, isOnly }: Sending,
  settings: PeerSettings,
): Promise<boolean> {
  if (message.taskId !== null) {
    // An answer has arrived if the task asks something else, or nothing.
    await peer.read(task);
    return task.isSettled || task.status.state === 'working';
  }
  const found = await peer.find(message, isOnly);
  if (found !== undefined) {
    if (found === null) return false;
    await peer.read(task, found);
    return true;
  }
  if (settings.repeatable) return false;
  throw new TerminalError('external_call_failed', {
    message: `A message to the peer ${settings.name} was interrupted, and the peer cannot say whether it has it. It is not sent twice.`,
    hint: 'Start the call again if the peer has nothing of it; or set "repeatable" for a peer that takes each message id once.',
  });
}
