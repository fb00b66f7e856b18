/** Who the agent is in other systems, as its latest runs recorded it. */
import { isJsonObject, type JsonObject, type RunSnapshot } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import { Mark, type Tone } from '../parts/status.tsx';
import { Ago } from '../parts/time.tsx';
import { agentRunOf } from './agent-runs.ts';

/** The newest run of the agent is looked at, and so many of the newest runs of all. */
const OTHERS = 8;

/** Where runs record identities, and what they are called. */
const systems = [
  ['vendor.openwop.did', 'DID', 'did'],
  ['vendor.openwop.a2a.agentCardUrl', 'A2A agent card', 'url'],
  ['vendor.openwop.agntcy.gatewayId', 'AGNTCY', 'gatewayId'],
] as const;

interface Evidence {
  readonly system: string;
  readonly name: string;
  readonly record: JsonObject;
  readonly run: RunSnapshot;
}

export function IdentitySection({ agentId }: { readonly agentId: string }) {
  const runs = useQuery({
    queryKey: ['identity', agentId],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all([
        host.runs.list({ workflowId: agentRunOf(agentId), limit: 1 }, { signal }),
        host.runs.list({ limit: OTHERS }, { signal }),
      ]);
      // The list leaves metadata out.
      const ids = new Set(lists.flatMap((list) => list.runs.map(({ runId }) => runId)));
      return Promise.all([...ids].map((runId) => host.runs.get(runId, { signal })));
    },
    staleTime: 30_000,
  });
  const found = evidenceOf(agentId, runs.data ?? []);
  return (
    <section aria-labelledby="agent-identity">
      <h3 id="agent-identity">Identity</h3>
      {found === null ? (
        <p className="second">
          No recent run recorded an identity of this agent in another system. Declare one in{' '}
          <code>agents.identities</code> of the configuration.
        </p>
      ) : (
        <Recorded evidence={found} />
      )}
    </section>
  );
}

function Recorded({ evidence: { system, name, record, run } }: { readonly evidence: Evidence }) {
  const { documentSha256, signature, unresolved, resolvedAt } = record;
  const isResolved = unresolved === undefined && record.evidence !== 'none';
  const tone: Tone = isResolved ? 'done' : 'waiting';
  return (
    <dl className="facts">
      <div>
        <dt>{system}</dt>
        <dd className="wrapped">{name}</dd>
      </div>
      <div>
        <dt>Evidence</dt>
        <dd className="status" data-tone={tone}>
          <Mark tone={tone} />
          {isResolved ? String(record.evidence) : reasonOf(unresolved)}
        </dd>
      </div>
      {signature !== undefined && (
        <div>
          <dt>Signature of the card</dt>
          <dd>{isJsonObject(signature) ? String(signature.state ?? 'unknown') : String(signature)}</dd>
        </div>
      )}
      {typeof documentSha256 === 'string' && (
        <div>
          <dt>Document</dt>
          <dd>
            <code title={documentSha256}>sha256 {documentSha256.slice(0, 16)}…</code>
          </dd>
        </div>
      )}
      {typeof resolvedAt === 'string' && (
        <div>
          <dt>Resolved</dt>
          <dd>
            <Ago at={resolvedAt} /> ago
          </dd>
        </div>
      )}
      <div>
        <dt>Recorded by</dt>
        <dd>
          <Link to="/runs/$runId" params={{ runId: run.runId }}>
            {run.workflowId}
          </Link>
        </dd>
      </div>
    </dl>
  );
}

const reasonOf = (unresolved: unknown): string => (typeof unresolved === 'string' ? unresolved : 'none');

function evidenceOf(agentId: string, runs: readonly RunSnapshot[]): Evidence | null {
  for (const run of runs) {
    for (const [key, system, field] of systems) {
      const agents = run.metadata?.[key];
      const record = isJsonObject(agents) ? agents[agentId] : undefined;
      if (isJsonObject(record)) return { system, name: String(record[field] ?? ''), record, run };
    }
  }
  return null;
}
