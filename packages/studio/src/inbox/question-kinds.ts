/** What a question asks for, and what each answer does, in the words of the page. */
import { type InboxEntry, isJsonObject, type Json, type JsonObject } from '@cairn/protocol';

/** An answer that is one press, perhaps with a text or a value. */
export interface Action {
  readonly name: string;
  readonly label: string;
  /** What happens then. */
  readonly effect: string;
  readonly isMain?: boolean;
  readonly isDanger?: boolean;
  /** What else it needs. */
  readonly needs?: 'feedback' | 'json';
}

export type Asked =
  | { readonly is: 'actions'; readonly actions: readonly Action[] }
  | { readonly is: 'questions'; readonly questions: readonly AskedQuestion[] }
  | { readonly is: 'conversation' }
  | { readonly is: 'sign-in'; readonly service: string }
  | { readonly is: 'event'; readonly eventType: string }
  | { readonly is: 'value' };

export interface AskedQuestion {
  readonly id: string;
  readonly question: string;
  readonly schema: Json | undefined;
}

const approvals: Readonly<Record<string, Action>> = {
  accept: { name: 'accept', label: 'Accept', effect: 'The run continues on its “approved” path.', isMain: true },
  reject: {
    name: 'reject',
    label: 'Reject',
    effect: 'The run continues on its “rejected” path. Without one, the node fails.',
    isDanger: true,
  },
  refine: {
    name: 'refine',
    label: 'Ask for changes',
    effect: 'The run continues on its “refined” path, with your comment.',
    needs: 'feedback',
  },
  'edit-accept': {
    name: 'edit-accept',
    label: 'Edit and accept',
    effect: 'The run continues with what you write instead of what is shown.',
    needs: 'json',
  },
};

const verdicts: readonly Action[] = [
  { name: 'approve', label: 'Approve', effect: 'The decision of the agent counts as it is.', isMain: true },
  { name: 'edit', label: 'Replace', effect: 'The decision that you write counts instead.', needs: 'json' },
  { name: 'reject', label: 'Reject', effect: 'The agent decides again, and reads your reason.', isDanger: true },
];

const interrupted: readonly Action[] = [
  { name: 'retry', label: 'It was not done: do it', effect: 'The call is made again.', isMain: true },
  { name: 'use', label: 'It was done', effect: 'The run continues with the result that you write.', needs: 'json' },
  { name: 'fail', label: 'Give it up', effect: 'The step fails.', isDanger: true },
];

/** An approval takes the actions of its data. `ask` is never an answer. */
function approvalActions({ actions }: JsonObject): readonly Action[] {
  const offered = Array.isArray(actions) ? actions.map(String) : ['accept', 'reject'];
  return offered.flatMap((name) => (Object.hasOwn(approvals, name) && approvals[name] ? [approvals[name]] : []));
}

/** One vote of several decides nothing yet. */
const votes = (actions: readonly Action[], required: number): readonly Action[] =>
  required < 2
    ? actions
    : actions.map((action) =>
        action.name === 'accept'
          ? { ...action, effect: `Your vote. With ${required} of them, the run continues on its “approved” path.` }
          : action,
      );

export function askedIn({ kind, data = {}, quorum }: InboxEntry): Asked {
  switch (kind) {
    case 'approval':
      return { is: 'actions', actions: votes(approvalActions(data), quorum?.required ?? 1) };
    case 'low-confidence':
      return { is: 'actions', actions: verdicts };
    case 'clarification':
      return { is: 'questions', questions: questionsIn(data) };
    case 'conversation.exchange':
      return { is: 'conversation' };
    case 'external-event':
      return eventIn(data);
    default:
      return data.customKind === 'cairn.step.interrupted' ? { is: 'actions', actions: interrupted } : { is: 'value' };
  }
}

function eventIn({ eventType, correlation }: JsonObject): Asked {
  const service = isJsonObject(correlation) ? correlation.provider : undefined;
  const isSignIn = isJsonObject(correlation) && correlation.authType !== undefined;
  if (isSignIn) return { is: 'sign-in', service: typeof service === 'string' ? service : 'another service' };
  return { is: 'event', eventType: String(eventType ?? '') };
}

const questionsIn = ({ questions }: JsonObject): readonly AskedQuestion[] =>
  (Array.isArray(questions) ? questions : []).flatMap((one) =>
    isJsonObject(one) && typeof one.id === 'string'
      ? [{ id: one.id, question: String(one.question ?? one.id), schema: one.schema }]
      : [],
  );

/** The field in which an action carries what somebody wrote. */
const carried: Readonly<Record<string, string>> = {
  edit: 'decision',
  use: 'result',
  'edit-accept': 'editedArtifactData',
};

export interface Said {
  readonly feedback: string;
  readonly value: Json | undefined;
}

/** The answer that a press sends. */
export function answerOf({ name }: Action, { feedback, value }: Said): JsonObject {
  const text = feedback.trim();
  if (name === 'refine') return { action: name, refineFeedback: { scope: 'whole', text } };
  const field = Object.hasOwn(carried, name) ? carried[name] : undefined;
  return {
    action: name,
    ...(field !== undefined && value !== undefined && { [field]: value }),
    ...(text !== '' && { feedback: text }),
  };
}

/** How sure an agent was, and how sure it had to be; null for other questions. */
export function confidenceOf({
  kind,
  data,
}: InboxEntry): { readonly observed: number; readonly threshold: number } | null {
  if (kind !== 'low-confidence' || data === undefined) return null;
  const { observed, threshold } = data;
  return typeof observed === 'number' && typeof threshold === 'number' ? { observed, threshold } : null;
}

/** What the question is about: shown as it is, under it. */
export function subjectOf({ kind, data = {} }: InboxEntry): Json | undefined {
  if (kind === 'approval') return data.artifactData;
  if (kind === 'low-confidence') return data.decision;
  if (kind === 'external-event') return data.correlation;
  return kind === 'custom' ? data.payload : undefined;
}

/** The question in a few words. Several questions are in the form, each at its field. */
export function headingOf(entry: InboxEntry): string {
  const asked = askedIn(entry);
  const count = asked.is === 'questions' ? asked.questions.length : 0;
  return count > 1 ? `${count} questions` : entry.title;
}

const kinds: Readonly<Record<string, string>> = {
  approval: 'Approval',
  clarification: 'Question',
  'external-event': 'Event',
  'low-confidence': 'Unsure decision',
  'conversation.exchange': 'Conversation',
};

export const kindWord = (entry: InboxEntry): string => {
  const asked = askedIn(entry);
  if (asked.is === 'sign-in') return 'Sign-in';
  return kinds[entry.kind] ?? 'Question';
};
