/** A task of a conversation: all that it shows, in order, and how it stands. Drawn again only when the task itself changes. */
import type { TaskItem, TaskState } from '@cairn/client/context';
import { type LiveConversation, useEntry } from '@cairn/client/react';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { shortAgent, shortCount } from '../parts/figures.ts';
import { Mark } from '../parts/status.tsx';
import { Folded } from '../run/marks.tsx';
import { brief } from '../run/words.ts';
import { ArtifactLine } from './artifact-line.tsx';
import type { EntryProps } from './entry-props.ts';
import { AgentMessage, UserMessage } from './message-view.tsx';
import { QuestionCard } from './question-card.tsx';
import { SignInCard } from './sign-in-card.tsx';
import { Thoughts } from './thoughts.tsx';
import { ToolCard } from './tool-card.tsx';

export const TaskView = memo(function TaskView({ conversation, id }: EntryProps) {
  const task = useEntry(conversation, 'tasks', id);
  if (task === undefined) return null;
  if (task.parentTaskId !== null) return <Subtask conversation={conversation} task={task} />;
  return (
    <article className="task" aria-label="Turn">
      <Items conversation={conversation} task={task} />
      <Standing task={task} />
    </article>
  );
});

interface TaskProps {
  readonly conversation: LiveConversation;
  readonly task: TaskState;
}

/** Work that was handed to another agent. What it asks is never folded away. */
function Subtask({ conversation, task }: TaskProps) {
  const asks = task.items.some(({ of }) => of === 'questions' || of === 'signIns');
  return (
    <div className="card subtask">
      <Folded
        isOpen={asks}
        title={
          <>
            <Mark
              tone={task.status === 'failed' ? 'failed' : task.isOver ? 'done' : 'working'}
              isMoving={task.status === 'working'}
            />{' '}
            <strong>{task.agentId === null ? 'Subtask' : shortAgent(task.agentId)}</strong>{' '}
            <span className="second">{brief(task.prompt ?? '', 120)}</span>
          </>
        }
      >
        {() => <Items conversation={conversation} task={task} />}
      </Folded>
    </div>
  );
}

const Items = ({ conversation, task }: TaskProps) =>
  groupsOf(task.items).map((group) => (
    <Group key={`${group[0]?.of} ${group[0]?.id}`} conversation={conversation} task={task} items={group} />
  ));

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

function Group({ conversation, task, items }: TaskProps & { readonly items: readonly TaskItem[] }) {
  const [first] = items;
  if (first === undefined) return null;
  const props = { conversation, id: first.id };
  switch (first.of) {
    case 'messages':
      return first.id === `${task.taskId}:message` ? (
        <UserMessage {...props} task={task} />
      ) : (
        <AgentMessage {...props} />
      );
    case 'tools':
      return <ToolCard {...props} />;
    case 'thoughts':
      return <Thoughts conversation={conversation} ids={items.map(({ id }) => id)} />;
    case 'questions':
      return <QuestionCard {...props} />;
    case 'signIns':
      return <SignInCard {...props} />;
    case 'artifacts':
      return <ArtifactLine {...props} taskId={task.taskId} />;
    case 'tasks':
      return <TaskView {...props} />;
  }
}

/** The last line of a turn: how it stands or ended, and the run that holds all of it. */
function Standing({ task }: { readonly task: TaskState }) {
  const { status, error, problems, taskId, tokens } = task;
  const problem = problems.at(-1);
  return (
    <footer className="standing second">
      {status === 'failed' && (
        <div className="problem" role="alert">
          <code>{error?.code ?? 'internal_error'}</code>
          <span>{error?.message ?? 'The task failed.'}</span>
          <span className="next">Retry it, or open its run to see where it failed.</span>
        </div>
      )}
      {status === 'canceled' && (
        <span className="status" data-tone="none">
          <Mark tone="none" /> Stopped
        </span>
      )}
      {!task.isOver && problem?.retryable === true && <span>{problem.message} Trying again.</span>}
      {status === null && (
        <span className="status" data-tone="waiting">
          <Mark tone="waiting" /> Waits for its turn
        </span>
      )}
      {status === 'working' && task.openMessages.length === 0 && (
        <span className="status" data-tone="working">
          <Mark tone="working" isMoving /> Working
        </span>
      )}
      {tokens.total > 0 && <span className="label figure">{shortCount(tokens.total)} tokens</span>}
      <Link to="/runs/$runId" params={{ runId: taskId }} className="label">
        Open the run
      </Link>
    </footer>
  );
}
