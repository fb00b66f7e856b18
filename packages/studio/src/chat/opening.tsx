/** Before the first message: which agent to talk to. */
import type { AgentInventoryEntry } from '@cairn/protocol';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Command } from '../parts/copied.tsx';
import { shortAgent } from '../parts/figures.ts';
import { Placeholders } from '../parts/placeholders.tsx';
import { Problem } from '../parts/problem.tsx';

interface OpeningProps {
  readonly agents: UseQueryResult<readonly AgentInventoryEntry[]>;
  readonly chosen: string | null;
  readonly onChoose: (agentId: string | null) => void;
}

export function Opening({ agents, chosen, onChoose }: OpeningProps) {
  if (agents.isError)
    return (
      <div className="state">
        <Problem error={agents.error} onRetry={() => void agents.refetch()} />
      </div>
    );
  if (agents.data?.length === 0) return <NoAgents />;
  return (
    <div className="chat-opening">
      <h2>Who do you want to talk to?</h2>
      <p className="second">
        Choose an agent and write to it. Without a choice, the default agent of the host answers.
      </p>
      <ul className="agent-choices">
        {(agents.data ?? []).map(({ agentId, label, description }) => (
          <li key={agentId}>
            <button
              type="button"
              className="agent-choice"
              aria-pressed={agentId === chosen}
              onClick={() => onChoose(agentId === chosen ? null : agentId)}
            >
              <span className="initials" aria-hidden="true">
                {shortAgent(agentId).slice(0, 2)}
              </span>
              <strong className="cut">{label}</strong>
              <span className="second">{description ?? agentId}</span>
            </button>
          </li>
        ))}
        {agents.isPending && (
          <Placeholders count={6}>
            <li className="agent-choice" aria-hidden="true">
              <span className="bone" />
            </li>
          </Placeholders>
        )}
      </ul>
    </div>
  );
}

const NoAgents = () => (
  <div className="state">
    <h2>No agent is installed</h2>
    <p>A pack brings agents. Add one, and it appears here:</p>
    <Command text="npx cairn pack add ./packs/support-triage" />
    <p>
      <Link to="/agents">Look at the packs of this host</Link>
    </p>
  </div>
);
