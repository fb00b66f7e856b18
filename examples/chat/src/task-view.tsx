/** A task: all that it shows, in order, and how it stands. Renders again only when the task itself changes. */
import type { TaskItem, TaskState } from '@cairn/client/context';
import { type LiveConversation, useEntry } from '@cairn/client/react';
import { memo } from 'react';
import { ArtifactCard } from './artifact-card.tsx';
import type { EntryProps } from './entry-props.ts';
import { MessageView } from './message-view.tsx';
import { QuestionCard } from './question-card.tsx';
import { SignInCard } from './sign-in-card.tsx';
import { Thoughts } from './thoughts.tsx';
import { ToolCard } from './tool-card.tsx';

export const TaskView = memo(({ conversation, id }: EntryProps) => {
  const task = useEntry(conversation, 'tasks', id);
  if (task === undefined) return null;
  return (
    <article className={task.parentTaskId === null ? 'task' : 'task subtask'} aria-label={titleOf(task)}>
      {task.parentTaskId !== null && <h3>{titleOf(task)}</h3>}
      {groupsOf(task.items).map((group) => (
        <Group key={`${group[0]?.of} ${group[0]?.id}`} conversation={conversation} taskId={id} items={group} />
      ))}
      <Standing task={task} />
    </article>
  );
});

const titleOf = ({ agentId, prompt }: TaskState): string =>
  [agentId?.split(/[.:]/).at(-1) ?? 'Subtask', prompt].filter(Boolean).join(': ');

/** Thoughts that follow one another are folded into one. */
function groupsOf(items: readonly TaskItem[]): readonly (readonly TaskItem[])[] {
  const groups: TaskItem[][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (item.of === 'thoughts' && last?.[0]?.of === 'thoughts') last.push(item);
    else groups.push([item]);
  }
  return groups;
}

interface GroupProps {
  readonly conversation: LiveConversation;
  readonly taskId: string;
  readonly items: readonly TaskItem[];
}

function Group({ conversation, taskId, items }: GroupProps) {
  const [first] = items;
  if (first === undefined) return null;
  const props = { conversation, id: first.id };
  switch (first.of) {
    case 'messages':
      return <MessageView {...props} />;
    case 'tools':
      return <ToolCard {...props} />;
    case 'thoughts':
      return <Thoughts conversation={conversation} ids={items.map(({ id }) => id)} />;
    case 'questions':
      return <QuestionCard {...props} />;
    case 'signIns':
      return <SignInCard {...props} />;
    case 'artifacts':
      return <ArtifactCard {...props} taskId={taskId} />;
    case 'tasks':
      return <TaskView {...props} />;
  }
}

function Standing({ task }: { readonly task: TaskState }) {
  const problem = task.problems.at(-1);
  if (task.status === 'failed') return <p className="failure">{task.error?.message ?? 'This did not work.'}</p>;
  if (task.status === 'canceled') return <p className="note">Stopped.</p>;
  if (task.isOver) return null;
  if (problem?.retryable === true) return <p className="note">{problem.message} Trying again.</p>;
  if (task.status === null) return <p className="note">Waits for its turn…</p>;
  if (task.status === 'working' && task.openMessages.length === 0)
    return (
      <p className="note dots" aria-hidden>
        Working
      </p>
    );
  return null;
}
