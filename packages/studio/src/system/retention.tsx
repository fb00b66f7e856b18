/** The rules of retention, and what they would purge now. Nothing here purges anything. */
import type { RetentionPlan } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import { Command } from '../parts/copied.tsx';
import { shortId } from '../parts/figures.ts';
import { Problem } from '../parts/problem.tsx';
import { Ago } from '../parts/time.tsx';

/** Runs that are shown of a plan. */
const SHOWN = 12;

export function Retention() {
  const plan = useQuery({
    queryKey: ['retention'],
    queryFn: ({ signal }) => host.retention({ signal }),
    enabled: false,
  });
  const rules = useQuery({
    queryKey: ['retention', 'rules'],
    queryFn: async ({ signal }) => (await host.retention({ signal })).rules,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <section className="panel system-panel" aria-labelledby="retention">
      <header className="system-head">
        <h2 id="retention">Retention</h2>
        <button type="button" className="button" disabled={plan.isFetching} onClick={() => void plan.refetch()}>
          {plan.isFetching ? 'Looking' : 'Dry run'}
        </button>
      </header>
      {rules.isError && <Problem error={rules.error} onRetry={() => void rules.refetch()} />}
      {rules.isPending && <span className="bone" aria-hidden="true" />}
      {rules.data?.length === 0 && <NoRules />}
      {rules.data !== undefined && rules.data.length > 0 && (
        <ul className="rules">
          {rules.data.map((rule) => (
            <li key={JSON.stringify(rule)}>{ruleWords(rule)}</li>
          ))}
        </ul>
      )}
      {plan.isError && <Problem error={plan.error} />}
      {plan.data !== undefined && <Plan plan={plan.data} />}
    </section>
  );
}

function Plan({ plan: { runs, truncated } }: { readonly plan: RetentionPlan }) {
  if (runs.length === 0) return <p role="status">Nothing would go now.</p>;
  return (
    <div role="status">
      <p className="figure">
        {truncated ? `More than ${runs.length}` : runs.length} {runs.length === 1 ? 'run' : 'runs'} would go now, with
        the runs below them. Nothing was purged.
      </p>
      <ul className="planned">
        {runs.slice(0, SHOWN).map(({ runId, workflowId, completedAt }) => (
          <li key={runId}>
            <Link to="/runs/$runId" params={{ runId }} title={runId}>
              {shortId(runId)}
            </Link>
            <span className="second cut">{workflowId}</span>
            {completedAt !== undefined && (
              <span className="second">
                ended <Ago at={completedAt} /> ago
              </span>
            )}
          </li>
        ))}
      </ul>
      {runs.length > SHOWN && <p className="second figure">And {runs.length - SHOWN} more.</p>}
    </div>
  );
}

const NoRules = () => (
  <>
    <p className="second">No rule: runs stay until somebody deletes them. A rule in cairn.json lets old ones go:</p>
    <Command text={'"retention": [{ "afterDays": 30, "keepLast": 1000 }]'} />
  </>
);

function ruleWords({
  afterDays,
  keepLast,
  workflow,
  tag,
}: RetentionPlan['rules'][number] & Record<string, unknown>): string {
  const which = [
    workflow === undefined ? 'Runs' : `Runs of ${String(workflow)}`,
    ...(tag === undefined ? [] : [`with the tag ${String(tag)}`]),
  ].join(' ');
  const when = [
    ...(afterDays === undefined ? [] : [`${String(afterDays)} days after their end`]),
    ...(keepLast === undefined ? [] : [`beyond the last ${String(keepLast)}`]),
  ];
  return `${which} go ${when.join(', but only those ')}.`;
}
