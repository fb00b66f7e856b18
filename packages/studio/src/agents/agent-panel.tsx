/** What is known of one agent. */
import type { AgentInventoryEntry, InstalledPack } from '@cairn/protocol';
import { Link } from '@tanstack/react-router';
import { useScope } from '../app/session.ts';
import { CopyButton } from '../parts/copied.tsx';
import { Ago } from '../parts/time.tsx';
import { AllowedTools } from './allowed-tools.tsx';
import { CalibrationSection } from './calibration-section.tsx';
import { IdentitySection } from './identity-section.tsx';
import { Signature } from './signature.tsx';

interface AgentPanelProps {
  readonly agent: AgentInventoryEntry;
  readonly pack: InstalledPack | null;
}

export function AgentPanel({ agent, pack }: AgentPanelProps) {
  const mayTalk = useScope('runs:create');
  const { agentId, label, description, confidenceThreshold } = agent;
  return (
    <article className="agent" aria-labelledby="agent-title">
      <header className="agent-head">
        <h2 id="agent-title">{label}</h2>
        {mayTalk && (
          <Link to="/chat" search={{ agent: agentId }} className="button" data-kind="main">
            Chat
          </Link>
        )}
        <span className="agent-id">
          <code className="cut">{agentId}</code>
          <CopyButton text={agentId} />
        </span>
      </header>
      {description !== undefined && <p>{description}</p>}
      <dl className="facts">
        <Fact name="Pack">{agent.packName}</Fact>
        <Fact name="Version">{agent.packVersion}</Fact>
        {pack !== null && (
          <>
            <Fact name="Signature">
              <Signature pack={pack} /> {pack.signedBy !== null && <code>{pack.signedBy}</code>}
            </Fact>
            <Fact name="Installed for">{pack.scope === 'host' ? 'the whole host' : 'your tenant'}</Fact>
            <Fact name="Installed">
              <Ago at={pack.installedAt} /> ago
            </Fact>
          </>
        )}
        <Fact name="Model class">{agent.modelClass}</Fact>
        <Fact name="Decides alone from">
          {confidenceThreshold === undefined ? 'no threshold' : `${Math.round(confidenceThreshold * 100)} % sure`}
        </Fact>
        <Fact name="Memory">{memoryWords(agent)}</Fact>
        <Fact name="Handoff">{agent.hasHandoffSchemas ? 'with schemas' : 'free text'}</Fact>
      </dl>
      <Degraded agent={agent} pack={pack} />
      <AllowedTools allowlist={agent.toolAllowlist} />
      <CalibrationSection agentId={agentId} threshold={confidenceThreshold ?? null} />
      <IdentitySection agentId={agentId} />
    </article>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: React.ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function memoryWords({ memoryShape = {} }: AgentInventoryEntry): string {
  const kinds = Object.entries(memoryShape).flatMap(([name, value]) => (value === true ? [name] : []));
  return kinds.length === 0 ? 'none' : kinds.join(', ').replaceAll(/([A-Z])/g, (letter) => `-${letter.toLowerCase()}`);
}

function Degraded({ agent, pack }: AgentPanelProps) {
  const { degraded = [], degradedMemoryDimensions = [], memoryDegraded = false } = agent;
  const missing = [...new Set([...degraded, ...(pack?.degraded ?? [])])];
  const memory = memoryDegraded ? degradedMemoryDimensions : [];
  if (missing.length + memory.length === 0) return null;
  return (
    <section className="degraded" aria-label="Degraded">
      <h3>Works with less than it asks for</h3>
      <p className="second">This host does not have the following. The agent runs without them.</p>
      <ul className="chips">
        {missing.map((name) => (
          <li key={name} className="badge" data-tone="waiting">
            {name}
          </li>
        ))}
        {memory.map((name) => (
          <li key={name} className="badge" data-tone="waiting">
            memory: {name}
          </li>
        ))}
      </ul>
    </section>
  );
}
