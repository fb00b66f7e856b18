/** What tasks ask of people: questions and sign-ins. */
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import type { Draft } from './draft.ts';

export function foldInput(draft: Draft, event: TaskEvent): void {
  switch (event.kind) {
    case 'input-required': {
      const { inputId, taskId, requireUser, parentTaskId } = event;
      // The task above a subtask may answer; until it passes the question on, nobody else is to be asked.
      const isForUser = requireUser === true || parentTaskId === undefined;
      draft.show(event, 'questions', inputId, { taskId, asked: event, status: 'open', received: null, isForUser });
      break;
    }
    case 'input-forwarded': {
      const question = draft.get('questions', event.inputId);
      if (question !== undefined) draft.set('questions', event.inputId, { ...question, isForUser: true });
      break;
    }
    case 'input-received': {
      const question = draft.get('questions', event.inputId);
      const status = isAnswer(event) ? 'answered' : 'closed';
      if (question !== undefined) draft.set('questions', event.inputId, { ...question, status, received: event });
      draft.settle(event.taskId, event.inputId);
      break;
    }
    case 'auth-required':
      draft.show(event, 'signIns', event.authId, { taskId: event.taskId, asked: event, status: 'open' });
      break;
    case 'auth-completed': {
      const signIn = draft.get('signIns', event.authId);
      if (signIn !== undefined) draft.set('signIns', event.authId, { ...signIn, status: 'completed' });
      draft.settle(event.taskId, event.authId);
      break;
    }
    case 'error': {
      // A sign-in that is refused or comes too late; its task may go on.
      const signIn = event.scope === 'auth' ? draft.get('signIns', event.refId ?? '') : undefined;
      if (signIn !== undefined) draft.set('signIns', signIn.asked.authId, { ...signIn, status: 'closed' });
      if (event.scope === 'auth') draft.settle(event.taskId, event.refId ?? '');
    }
  }
}

const isAnswer = ({ metadata }: TaskEventOf<'input-received'>): boolean =>
  metadata?.outcome !== 'timeout' && metadata?.outcome !== 'canceled';
