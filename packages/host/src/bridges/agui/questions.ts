/** Questions and sign-ins: events of their own as they come, and interrupts when the run waits for them. */
import { type Event as AguiEvent, EventType, type Interrupt } from '@ag-ui/core';
import type { TaskEvent, TaskEventOf } from '@cairn/protocol';
import { type Question, type RunState, stamp } from './run-state.ts';

/** An event that AG-UI has no type for, as it is. */
export const custom = (state: RunState, event: TaskEvent): AguiEvent => ({
  type: EventType.CUSTOM,
  name: `cairn.${event.kind}`,
  value: event,
  ...stamp(state, event),
});

export function asked(
  state: RunState,
  event: TaskEventOf<'input-required'> | TaskEventOf<'auth-required'>,
): readonly AguiEvent[] {
  const isForUser = event.kind === 'auth-required' || event.requireUser === true || event.taskId === state.run.taskId;
  if (state.run.answered?.has(idOf(event)) !== true) state.questions.set(idOf(event), { asked: event, isForUser });
  return [custom(state, event)];
}

export function forwarded(state: RunState, event: TaskEventOf<'input-forwarded'>): readonly AguiEvent[] {
  const question = state.questions.get(event.inputId);
  if (question !== undefined) state.questions.set(event.inputId, { ...question, isForUser: true });
  return [custom(state, event)];
}

export const idOf = (event: Question['asked']): string =>
  event.kind === 'input-required' ? event.inputId : event.authId;

/** The open client tool call that a question stands for. */
export function clientCallOf({ clientCalls }: RunState, { asked: event }: Question): string | null {
  const { toolCallId } = event;
  const isCall = event.kind === 'input-required' && event.inputType === 'tool-execution';
  return isCall && toolCallId !== undefined && clientCalls.has(toolCallId) ? toolCallId : null;
}

export const openForUser = ({ questions }: RunState): readonly Question[] =>
  [...questions.values()].filter(({ isForUser }) => isForUser);

export function interruptOf(state: RunState, question: Question): Interrupt {
  const { asked: event } = question;
  const { taskId, prompt, toolCallId } = event;
  return {
    id: idOf(event),
    reason: reasonOf(event),
    message: prompt,
    ...(toolCallId !== undefined && { toolCallId }),
    ...(taskId !== state.run.taskId && { subagentRunId: taskId }),
    ...(event.kind === 'input-required' ? ofInput(event) : { metadata: { signIn: event } }),
  };
}

const reasonOf = (event: Question['asked']): string => {
  if (event.kind === 'auth-required') return 'auth_required';
  if (event.inputType === 'confirmation') return 'confirmation';
  return event.inputType === 'tool-execution' ? 'tool_call' : 'input_required';
};

function ofInput({ schema, options, expiresAt, inputType, metadata }: TaskEventOf<'input-required'>) {
  return {
    // A schema of AG-UI is an object; `true` takes any answer.
    ...(typeof schema === 'object' && { responseSchema: schema }),
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { ...metadata, inputType, ...(options !== undefined && { options }) },
  };
}
