/** One item of the conversation. Items are never changed in place, so an item that is the same is not drawn again. */
import { errorKinds, type JsonObject } from '@cairn/protocol';
import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import type {
  ArtifactItem,
  ChildItem,
  ConversationItem,
  DecisionItem,
  NoticeItem,
  StepItem,
  TextItem,
  ThoughtItem,
  ToolItem,
} from '../folds/conversation/items.ts';
import { DocsLink } from '../parts/docs-link.tsx';
import { shortCount } from '../parts/figures.ts';
import { Mark } from '../parts/status.tsx';
import { Markdown } from '../text/markdown.tsx';
import { Folded, StateMark, Value } from './marks.tsx';
import { QuestionCard } from './question-card.tsx';
import { RunLink } from './run-link.tsx';
import type { RunState } from './run-state.ts';
import { brief, bytes, clock, span } from './words.ts';

interface EntryProps {
  readonly item: ConversationItem;
  readonly state: RunState;
  readonly isSelected: boolean;
}

export const ConversationEntry = memo(
  function ConversationEntry({ item, state, isSelected }: EntryProps) {
    return (
      <article className="talk" data-kind={item.kind} data-selected={isSelected} aria-label={labels[item.kind]}>
        <button
          type="button"
          className="talk-seq figure"
          title={`Event ${item.seq}, ${clock(item.at)}`}
          onClick={() => state.select(item.seq)}
        >
          {item.seq}
        </button>
        <div className="talk-body">{shown(item, state)}</div>
      </article>
    );
  },
  (a, b) =>
    a.item === b.item &&
    a.isSelected === b.isSelected &&
    a.state.client === b.state.client &&
    a.state.data.snapshot?.contextId === b.state.data.snapshot?.contextId &&
    a.state.search === b.state.search,
);

const labels: Readonly<Record<ConversationItem['kind'], string>> = {
  start: 'Request',
  text: 'Text',
  thought: 'Thought',
  tool: 'Tool call',
  question: 'Question',
  artifact: 'Artifact',
  child: 'Child run',
  decision: 'Decision',
  step: 'Step',
  notice: 'Notice',
};

function shown(item: ConversationItem, state: RunState): ReactNode {
  switch (item.kind) {
    case 'start':
      return (
        <Folded
          title={
            <>
              <strong>{item.workflowId}</strong> <span className="second">{brief(item.inputs)}</span>
            </>
          }
        >
          {() => <Value of={item.inputs} />}
        </Folded>
      );
    case 'text':
      return <Words item={item} />;
    case 'thought':
      return <Thought item={item} />;
    case 'tool':
      return <ToolCard item={item} />;
    case 'question':
      return <QuestionCard item={item} runId={state.runId} isPast={state.search.at !== undefined} />;
    case 'artifact':
      return <Artifact item={item} contextId={state.data.snapshot?.contextId} />;
    case 'child':
      return <Child item={item} />;
    case 'decision':
      return <Decision item={item} />;
    case 'step':
      return <Step item={item} />;
    case 'notice':
      return <Notice item={item} />;
  }
}

const Words = ({ item }: { readonly item: TextItem }) =>
  item.text === '' && item.isDone ? (
    <span className="label">attempt {item.attempts - 1} was given up</span>
  ) : (
    <Written item={item} />
  );

const Written = ({ item }: { readonly item: TextItem }) => (
  <>
    {looksLikeJson(item.text) ? <Value of={formatted(item.text)} /> : <Markdown text={item.text} />}
    {item.isDone ? null : <span className="caret" title="Still writing" />}
    {item.attempts > 1 ? <span className="label">attempt {item.attempts}</span> : null}
  </>
);

const looksLikeJson = (text: string): boolean => /^\s*[{[]/.test(text) && /[}\]]\s*$/.test(text);

function formatted(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const Thought = ({ item }: { readonly item: ThoughtItem }) => (
  <Folded
    title={
      <span className="second">
        <em>{item.isDone ? 'Thought' : 'Thinking'}</em> {brief(item.text, 110)}
      </span>
    }
  >
    {() => <Markdown text={item.text} />}
  </Folded>
);

function ToolCard({ item }: { readonly item: ToolItem }) {
  const { progress, error, remote } = item;
  const took = item.endAt === null ? null : span(item.endAt - item.at);
  return (
    <div className="card" data-tone={item.status === 'failed' ? 'failed' : undefined}>
      <div className="card-head">
        <StateMark status={item.status} />
        <code className="cut">{item.tool}</code>
        <span className="label cut grow">{brief(item.inputs ?? {}, 90)}</span>
        {item.attempts > 1 ? <span className="badge">attempt {item.attempts}</span> : null}
        {item.isReused ? <span className="badge">reused</span> : null}
        {remote === null ? null : (
          <span className="badge" title={remote.runId}>
            on {remote.hostId}
          </span>
        )}
        {took === null ? null : <span className="label figure">{took}</span>}
      </div>
      {progress !== null && item.status === 'running' ? (
        <div className="progress">
          <progress
            max={1}
            {...(progress.indeterminate === true ? {} : { value: progress.progress })}
            aria-label={`Progress of ${item.tool}`}
          />
          <span className="second cut">{progress.message ?? progress.step ?? ''}</span>
        </div>
      ) : null}
      {error === null ? null : (
        <p className="problem">
          <code>{error.code}</code> {error.message}
        </p>
      )}
      <Folded
        title={
          <span className="second">
            {item.result === undefined ? (
              'Arguments'
            ) : (
              <>
                Result <span className="label">{brief(item.result, 100)}</span>
              </>
            )}
          </span>
        }
      >
        {() => (
          <>
            <span className="label">Arguments</span>
            <Value of={item.inputs ?? {}} />
            {item.result === undefined ? null : (
              <>
                <span className="label">Result</span>
                <Value of={item.result} />
              </>
            )}
            {item.rule === undefined ? null : <span className="label">Allowed by {item.rule}</span>}
          </>
        )}
      </Folded>
    </div>
  );
}

const Artifact = ({ item, contextId }: { readonly item: ArtifactItem; readonly contextId: string | undefined }) => (
  <div className="line">
    <span className="status" data-tone={item.isComplete ? 'done' : 'working'}>
      <Mark tone={item.isComplete ? 'done' : 'working'} />
    </span>
    {contextId === undefined ? (
      <strong className="cut">{item.name}</strong>
    ) : (
      <Link
        className="cut"
        to="/artifacts/$contextId/$artifactId"
        params={{ contextId, artifactId: item.artifactId }}
        search={item.isComplete ? { version: item.version } : {}}
      >
        {item.name}
      </Link>
    )}
    <span className="label">version {item.version}</span>
    <span className="label figure">
      {item.family === 'dataset' ? `${shortCount(item.size)} rows` : item.size > 0 ? bytes(item.size) : ''}
    </span>
    <span className="label cut">{item.mimeType ?? item.family}</span>
  </div>
);

const Child = ({ item }: { readonly item: ChildItem }) => (
  <div className="card">
    <div className="card-head">
      <StateMark status={item.status} />
      <span>child run</span>
      <strong className="cut">{item.workflowId}</strong>
      <RunLink to={item.childRunId} />
    </div>
    {item.prompt === undefined ? null : <p className="second">{brief(item.prompt, 300)}</p>}
  </div>
);

const Decision = ({ item }: { readonly item: DecisionItem }) => (
  <Folded
    title={
      <>
        <strong>{item.title}</strong>
        {item.confidence === undefined ? null : (
          <span className="badge figure">{Math.round(item.confidence * 100)} % sure</span>
        )}
        <span className="second"> {brief(item.decision ?? '', 90)}</span>
      </>
    }
  >
    {() => (
      <>
        {item.reason === undefined ? null : <Markdown text={item.reason} />}
        {item.decision === undefined ? null : <Value of={item.decision} />}
      </>
    )}
  </Folded>
);

function Step({ item }: { readonly item: StepItem }) {
  const { inputs = {}, outputs = {} } = item;
  const line = (
    <span className="line">
      <StateMark status={item.status} />
      <strong className="cut">{item.nodeId}</strong>
      <span className="label cut">{item.typeId}</span>
      {item.endAt === null ? null : <span className="label figure">{span(item.endAt - item.at)}</span>}
    </span>
  );
  if (isEmpty(inputs) && isEmpty(outputs)) return line;
  return (
    <Folded title={line}>
      {() => (
        <>
          <Named name="Inputs" value={inputs} />
          <Named name="Outputs" value={outputs} />
        </>
      )}
    </Folded>
  );
}

const isEmpty = (value: JsonObject): boolean => Object.keys(value).length === 0;

const Named = ({ name, value }: { readonly name: string; readonly value: JsonObject }) =>
  isEmpty(value) ? null : (
    <>
      <span className="label">{name}</span>
      <Value of={value} />
    </>
  );

const noticeTones = { info: 'none', warn: 'waiting', bad: 'failed', good: 'done' } as const;

const Notice = ({ item }: { readonly item: NoticeItem }) => (
  <>
    <div className="line" data-tone={noticeTones[item.tone]}>
      <span className="status">
        <Mark tone={noticeTones[item.tone]} />
        {item.title}
      </span>
      <span className="second">{brief(item.text, 400)}</span>
      {item.code !== undefined && Object.hasOwn(errorKinds, item.code) ? (
        <DocsLink page={`errors/${item.code}`}>What it means</DocsLink>
      ) : null}
    </div>
    {item.result === undefined || isEmpty(item.result) ? null : (
      <Folded
        title={
          <span className="second">
            Result <span className="label">{brief(item.result, 100)}</span>
          </span>
        }
      >
        {() => <Value of={item.result} />}
      </Folded>
    )}
  </>
);
