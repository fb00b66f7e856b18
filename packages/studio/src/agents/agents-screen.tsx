/** The agents that this tenant may use, by the pack that brought them, and what is known of one of them. */
import type { AgentInventoryEntry, InstalledPack } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { host } from '../app/host.ts';
import { useScope } from '../app/session.ts';
import { Command } from '../parts/copied.tsx';
import { PanelBones } from '../parts/panel-bones.tsx';
import { Placeholders } from '../parts/placeholders.tsx';
import { Problem } from '../parts/problem.tsx';
import { useInView } from '../parts/use-in-view.ts';
import { useKeys } from '../shell/keys.tsx';
import { AgentPanel } from './agent-panel.tsx';
import '../run/run.css';
import './agents.css';
import { groupsOf } from './packs.ts';
import { Signature } from './signature.tsx';

export function AgentsScreen({ agentId }: { readonly agentId: string | null }) {
  const agents = useQuery({ queryKey: ['agents'], queryFn: ({ signal }) => host.agents.list({ signal }) });
  const maySeePacks = useScope('packs:read');
  const packs = useQuery({
    queryKey: ['packs'],
    queryFn: ({ signal }) => host.packs.list({ signal }),
    enabled: maySeePacks,
  });
  const groups = groupsOf(agents.data ?? [], packs.data ?? []);
  const listed = groups.flatMap((group) => group.agents);
  const chosen = listed.find((agent) => agent.agentId === agentId);
  // Where there is room for both, the first agent is open.
  const shown = agentId === null ? listed[0] : chosen;
  useMoves(listed, shown);
  useInView(shown?.agentId ?? null, '.agent-list [aria-current]');
  if (agents.isError)
    return (
      <div className="state">
        <Problem error={agents.error} onRetry={() => void agents.refetch()} />
      </div>
    );
  if (agents.data?.length === 0) return <Nothing />;
  return (
    <div className="agents" data-open={agentId !== null || undefined}>
      <nav className="agent-list" aria-label="Agents">
        <h1 className="label">{agents.data === undefined ? 'Agents' : `${listed.length} agents, by pack`}</h1>
        {agents.isPending && <Bones />}
        {groups.map(({ name, version, pack, agents: ofPack }) => (
          <section key={name} aria-label={name}>
            <PackHead name={name} version={version} pack={pack} />
            <ul>
              {ofPack.map((agent) => (
                <li key={agent.agentId}>
                  <Entry agent={agent} isOpen={agent === shown} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
      <div className="agent-opened">
        <Link to="/agents" className="button back">
          ‹ All agents
        </Link>
        {agents.isPending && <PanelBones />}
        {shown !== undefined && (
          <AgentPanel
            key={shown.agentId}
            agent={shown}
            pack={groups.find((group) => group.agents.includes(shown))?.pack ?? null}
          />
        )}
        {agents.data !== undefined && shown === undefined && <Unknown agentId={agentId ?? ''} />}
      </div>
    </div>
  );
}

function useMoves(agents: readonly AgentInventoryEntry[], shown: AgentInventoryEntry | undefined): void {
  const navigate = useNavigate();
  const move = (step: number) => {
    const at = shown === undefined ? -1 : agents.indexOf(shown);
    const next = agents[Math.min(Math.max(at + step, 0), agents.length - 1)];
    if (next !== undefined) void navigate({ to: '/agents/$agentId', params: { agentId: next.agentId }, replace: true });
  };
  const chat = () => {
    if (shown !== undefined) void navigate({ to: '/chat', search: { agent: shown.agentId } });
  };
  useKeys([
    { key: 'j', label: 'Next agent', run: () => move(1) },
    { key: 'k', label: 'Previous agent', run: () => move(-1) },
    { key: 'c', label: 'Chat with the agent', run: chat, inPalette: true },
  ]);
}

interface PackHeadProps {
  readonly name: string;
  readonly version: string;
  readonly pack: InstalledPack | null;
}

const PackHead = ({ name, version, pack }: PackHeadProps) => (
  <header className="pack-head">
    <h2 className="cut" title={name}>
      {name}
    </h2>
    <span className="label">{version}</span>
    {pack !== null && <Signature pack={pack} />}
  </header>
);

const Entry = ({ agent, isOpen }: { readonly agent: AgentInventoryEntry; readonly isOpen: boolean }) => (
  <Link
    to="/agents/$agentId"
    params={{ agentId: agent.agentId }}
    className="agent-entry"
    aria-current={isOpen || undefined}
  >
    <span className="initials" aria-hidden="true">
      {agent.persona.slice(0, 2)}
    </span>
    <span className="cut name">{agent.label}</span>
    {isDegraded(agent) && (
      <span className="badge" data-tone="waiting">
        degraded
      </span>
    )}
    <span className="second cut">{agent.modelClass}</span>
  </Link>
);

const isDegraded = ({ degraded = [], memoryDegraded = false }: AgentInventoryEntry): boolean =>
  degraded.length > 0 || memoryDegraded;

const Bones = () => (
  <div aria-hidden="true" role="status">
    <Placeholders count={8}>
      <div className="agent-entry">
        <span className="bone" />
      </div>
    </Placeholders>
  </div>
);

const Unknown = ({ agentId }: { readonly agentId: string }) => (
  <div className="state">
    <h2>No agent has this id</h2>
    <p>
      <code>{agentId}</code> is not installed for your tenant, or not any more. Runs that used it still show it.
    </p>
    <Link to="/agents">All agents</Link>
  </div>
);

const Nothing = () => (
  <div className="state">
    <h2>No agents yet</h2>
    <p>A pack brings agents, with their prompts and the tools that they may call. Add one:</p>
    <Command text="npx cairn pack add ./packs/support-triage" />
    <p>
      Or write agents in code, with <code>npx cairn init</code>.
    </p>
  </div>
);
