/** One question: where it comes from, how long it waits, what it is about, and the form for its answer. */
import type { InboxEntry } from '@cairn/protocol';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { Code } from '../parts/code.tsx';
import { shortAgent, shortId } from '../parts/figures.ts';
import { Problem } from '../parts/problem.tsx';
import { Ago, Left } from '../parts/time.tsx';
import { RemoteRun } from '../run/remote-run.tsx';
import { Answering } from './answering.tsx';
import { confidenceOf, headingOf, kindWord, subjectOf } from './question-kinds.ts';
import { useFull } from './use-full.ts';

export function QuestionPanel({ entry }: { readonly entry: InboxEntry }) {
  const full = useFull(entry);
  const { description } = full.entry.data ?? {};
  return (
    <article className="question" aria-labelledby="question-title">
      <Path entry={entry} />
      <h2 id="question-title">{headingOf(full.entry)}</h2>
      <Facts entry={entry} />
      {typeof description === 'string' && <p className="description">{description}</p>}
      <Confidence entry={full.entry} />
      <Subject entry={full.entry} />
      <Votes entry={full.entry} />
      {full.error !== null && <Problem error={full.error} />}
      <Answering {...full} />
    </article>
  );
}

const Path = ({ entry: { path, runId } }: { readonly entry: InboxEntry }) => (
  <nav className="path second" aria-label="Runs above this question">
    {path.map((step, at) => (
      <Fragment key={step.runId}>
        {at > 0 && <span aria-hidden="true">›</span>}
        {'hostId' in step ? (
          <RemoteRun runId={step.runId} hostId={step.hostId} />
        ) : (
          <Link to="/runs/$runId" params={{ runId: step.runId }} title={step.runId}>
            {step.workflowId}
          </Link>
        )}
        {step.agentId !== undefined && <span className="label">{shortAgent(step.agentId)}</span>}
      </Fragment>
    ))}
    <span className="id">{shortId(runId)}</span>
  </nav>
);

const Facts = ({ entry }: { readonly entry: InboxEntry }) => (
  <dl className="facts">
    <div>
      <dt>Kind</dt>
      <dd>{kindWord(entry)}</dd>
    </div>
    <div>
      <dt>Asked by</dt>
      <dd title={entry.agentId ?? entry.nodeId}>
        {entry.agentId === undefined ? entry.nodeId : shortAgent(entry.agentId)}
      </dd>
    </div>
    <div>
      <dt>Waiting</dt>
      <dd>
        <Ago at={entry.requestedAt} />
      </dd>
    </div>
    <div>
      <dt>Expires</dt>
      <dd>{entry.expiresAt === undefined ? 'never' : <Left until={entry.expiresAt} />}</dd>
    </div>
    {entry.assignees !== undefined && (
      <div>
        <dt>For</dt>
        <dd>{entry.assignees.join(', ')}</dd>
      </div>
    )}
  </dl>
);

function Confidence({ entry }: { readonly entry: InboxEntry }) {
  const confidence = confidenceOf(entry);
  if (confidence === null) return null;
  const { observed, threshold } = confidence;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  return (
    <figure className="confidence">
      <svg
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Confidence ${percent(observed)}, threshold ${percent(threshold)}`}
      >
        <rect className="scale" width="100" height="6" />
        <rect className="observed" width={observed * 100} height="6" />
        <rect className="threshold" x={threshold * 100 - 0.3} width="0.6" height="6" />
      </svg>
      <figcaption className="second figure">
        The agent is {percent(observed)} sure; it decides alone from {percent(threshold)} on.
      </figcaption>
    </figure>
  );
}

function Subject({ entry }: { readonly entry: InboxEntry }) {
  const subject = subjectOf(entry);
  if (subject === undefined) return null;
  const text = typeof subject === 'string' ? subject : JSON.stringify(subject, null, 2);
  return (
    <section aria-label="What it is about">
      <Code className="subject" parts={[text]} />
    </section>
  );
}

function Votes({ entry: { quorum } }: { readonly entry: InboxEntry }) {
  if (quorum === undefined) return null;
  const { required, approvals, rejections, votes } = quorum;
  return (
    <section className="votes" aria-label="Votes">
      <p className="second figure">
        {approvals} of {required} approved{rejections > 0 && `, ${rejections} rejected`}
      </p>
      <ul>
        {votes.map(({ principal, action, feedback }) => (
          <li key={principal}>
            <span>{principal}</span>
            <span className="badge" data-tone={action === 'reject' ? 'failed' : 'done'}>
              {action}
            </span>
            {feedback !== undefined && <span className="second">{feedback}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
