/** Two runs side by side: the first divergence, and everything that they did differently. */
import type { RunDiff } from '@cairn/client';
import type { ArtifactDiff, DiffEntry } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { host } from '../app/host.ts';
import { shortCost, shortCount } from '../parts/figures.ts';
import { Problem } from '../parts/problem.tsx';
import { Status } from '../parts/status.tsx';
import { RunLink } from '../run/run-link.tsx';
import { span } from '../run/words.ts';
import { snapshotTitle } from '../runs/run-facts.ts';
import { Change, Hunks } from './changes.tsx';
import './compare.css';

export function CompareScreen({ a, b }: { readonly a: string; readonly b: string }) {
  const diff = useQuery({
    queryKey: ['diff', a, b],
    queryFn: ({ signal }) => host.runs.diff(a, b, { signal, limit: 100 }),
    retry: false,
  });
  return (
    <div className="compare">
      <header className="compare-head">
        <h1>Compare</h1>
        <p className="compare-sides">
          <Side name="a" runId={a} />
          <Side name="b" runId={b} />
        </p>
      </header>
      {diff.error !== null ? <Problem error={diff.error} onRetry={() => void diff.refetch()} /> : null}
      {diff.isPending ? <Loading /> : null}
      {diff.data === undefined ? null : <Comparison diff={diff.data} />}
    </div>
  );
}

/** Which run a side is: what it is about, and its workflow; only its id while neither is known. */
function Side({ name, runId }: { readonly name: string; readonly runId: string }) {
  const run = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => host.runs.get(runId, { signal }),
    retry: false,
  }).data;
  const title = run === undefined ? null : snapshotTitle(run);
  return (
    <span className="compare-side">
      <span className="badge">{name}</span>
      {run === undefined ? null : <strong className="cut">{title ?? run.workflowId}</strong>}
      {run === undefined || title === null ? null : <span className="second cut">{run.workflowId}</span>}
      <RunLink to={runId} />
    </span>
  );
}

/** Bones in the places of the totals and of the first divergence. */
const Loading = () => (
  <div role="status">
    <span className="only-read">Comparing the runs</span>
    <div className="bones panel" aria-hidden="true">
      {[30, 44, 38, 52, 34, 46, 40].map((width) => (
        <span key={width} className="bone" style={{ width: `${width}%` }} />
      ))}
    </div>
  </div>
);

const sections = [
  ['decisions', 'Decisions'],
  ['toolCalls', 'Tool calls'],
  ['modelTurns', 'Model turns'],
  ['answers', 'Answers'],
  ['texts', 'Texts'],
  ['children', 'Child runs'],
] as const;

const states = ['inputs', 'variables', 'channels', 'outputs', 'error'] as const;

function Comparison({ diff }: { readonly diff: RunDiff }) {
  const { cairn } = diff.stateDiff;
  return (
    <>
      <div className="compare-top">
        <Totals diff={diff} />
        <Divergence diff={diff} />
      </div>
      {states.map((name) => {
        const changes = diff.stateDiff[name] ?? [];
        return changes.length === 0 ? null : (
          <Section key={name} title={stateTitles[name]} count={changes.length}>
            {changes.map((change) => (
              <Change key={change.path} change={change} />
            ))}
          </Section>
        );
      })}
      {sections.map(([name, title]) => {
        const { entries, changed, same } = cairn[name];
        return changed === 0 ? null : (
          <Section key={name} title={title} count={changed} same={same}>
            {entries.map((entry) => (
              <Entry key={`${entry.key} ${entry.op}`} entry={entry} diff={diff} />
            ))}
          </Section>
        );
      })}
      {cairn.artifacts.changed === 0 ? null : (
        <Section title="Artifacts" count={cairn.artifacts.changed} same={cairn.artifacts.same}>
          {cairn.artifacts.entries.map((entry) => (
            <Artifact key={entry.key} entry={entry} />
          ))}
        </Section>
      )}
      {cairn.leftOut.map(({ what, count }) => (
        <p key={what} className="second">
          Not shown: {what} ({count})
        </p>
      ))}
    </>
  );
}

const stateTitles = {
  inputs: 'Inputs',
  variables: 'Variables',
  channels: 'Channels',
  outputs: 'Outputs',
  error: 'Error',
} as const;

function Totals({ diff }: { readonly diff: RunDiff }) {
  const { totals } = diff.stateDiff.cairn;
  const rows: readonly (readonly [string, ReactNode, ReactNode])[] = [
    ['Status', <Status key="a" status={totals.status.a} />, <Status key="b" status={totals.status.b} />],
    ['Events', totals.events.a, totals.events.b],
    ['Took', span(totals.durationMs.a), span(totals.durationMs.b)],
    [
      'Tokens',
      shortCount(totals.inputTokens.a + totals.outputTokens.a),
      shortCount(totals.inputTokens.b + totals.outputTokens.b),
    ],
    ['Cost', shortCost(totals.costUsd.a), shortCost(totals.costUsd.b)],
    ['Model calls', totals.modelCalls.a, totals.modelCalls.b],
    ['Tool calls', totals.toolCalls.a, totals.toolCalls.b],
  ];
  return (
    <table className="compare-totals panel">
      <thead>
        <tr>
          <th className="label">Totals</th>
          <th className="label">a</th>
          <th className="label">b</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, first, second]) => (
          <tr key={name}>
            <th className="second">{name}</th>
            <td className="figure">{first}</td>
            <td className="figure">{second}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The first event in which the runs differ, marked, with links to it in both. */
function Divergence({ diff }: { readonly diff: RunDiff }) {
  const { firstDivergence, sharedUpTo } = diff.stateDiff.cairn;
  if (firstDivergence === null)
    return <p className="panel compare-same">The two runs say the same{diff.truncated === true ? ' so far' : ''}.</p>;
  const side = (name: 'a' | 'b'): ReactNode => {
    const event = firstDivergence[name];
    return (
      <p>
        <span className="badge">{name}</span>{' '}
        {event === null ? (
          <span className="second">has ended before</span>
        ) : (
          <EventLink run={diff[name]} seq={event.seq}>
            {event.seq} {event.type}
            {event.nodeId === undefined ? '' : ` of ${event.nodeId}`}
          </EventLink>
        )}
      </p>
    );
  };
  return (
    <section className="panel divergence" aria-label="First divergence">
      <h2>First divergence</h2>
      <p className="second">
        {sharedUpTo >= 0
          ? `The events 0 to ${sharedUpTo} are shared.`
          : 'The runs share no events; what they say is compared.'}
      </p>
      {side('a')}
      {side('b')}
      {firstDivergence.changes.map((change) => (
        <Change key={change.path} change={change} />
      ))}
    </section>
  );
}

const EventLink = ({
  run,
  seq,
  children,
}: {
  readonly run: string;
  readonly seq: number;
  readonly children: ReactNode;
}) => (
  <RunLink to={run} event={seq}>
    {children}
  </RunLink>
);

interface SectionProps {
  readonly title: string;
  readonly count: number;
  readonly same?: number;
  readonly children: ReactNode;
}

const Section = ({ title, count, same, children }: SectionProps) => (
  <section className="panel compare-section" aria-label={title}>
    <h2>
      {title}{' '}
      <span className="label figure">
        {count} {count === 1 ? 'differs' : 'differ'}
        {same === undefined ? '' : `, ${same} the same`}
      </span>
    </h2>
    {children}
  </section>
);

const ops = { added: 'only in b', removed: 'only in a', changed: 'differs' } as const;

function Entry({ entry, diff }: { readonly entry: DiffEntry; readonly diff: RunDiff }) {
  const { key, kind, op, a, b, changes } = entry;
  return (
    <article className="compare-entry">
      <h3>
        <code>{key}</code> <span className="label">{kind}</span>{' '}
        <span className="badge" data-op={op}>
          {ops[op]}
        </span>
        {a === undefined ? null : (
          <EventLink run={diff.a} seq={a.seq}>
            a {a.seq}
          </EventLink>
        )}
        {b === undefined ? null : (
          <EventLink run={diff.b} seq={b.seq}>
            b {b.seq}
          </EventLink>
        )}
        {b?.reused === true ? <span className="badge">reused</span> : null}
        {a?.runId !== undefined && b?.runId !== undefined ? (
          <a href={`/compare/${a.runId}/${b.runId}`}>compare</a>
        ) : null}
      </h3>
      {changes.map((change) => (
        <Change key={change.path} change={change} />
      ))}
    </article>
  );
}

function Artifact({ entry }: { readonly entry: ArtifactDiff }) {
  const { key, op, content, changes } = entry;
  return (
    <article className="compare-entry">
      <h3>
        <code>{key}</code>{' '}
        <span className="badge" data-op={op}>
          {ops[op]}
        </span>
        {content.added === undefined ? null : (
          <span className="label figure">
            +{content.added} −{content.removed ?? 0} lines
          </span>
        )}
      </h3>
      {changes.map((change) => (
        <Change key={change.path} change={change} />
      ))}
      {content.hunks === undefined ? (
        <p className="second">Content: {content.compared.replace('_', ' ')}</p>
      ) : (
        <Hunks hunks={content.hunks} />
      )}
    </article>
  );
}
