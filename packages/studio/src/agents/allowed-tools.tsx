/** The tools that the manifest of an agent allows, and what the host knows of each. */
import type { ToolDescriptor } from '@cairn/protocol';
import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';

export function AllowedTools({ allowlist }: { readonly allowlist: readonly string[] }) {
  const tools = useQuery({
    queryKey: ['tools', 'compact'],
    queryFn: ({ signal }) => host.tools.list({ view: 'compact' }, { signal }),
    staleTime: 30_000,
  });
  return (
    <section aria-labelledby="allowed-tools">
      <h3 id="allowed-tools">Tools allowed</h3>
      {allowlist.length === 0 && <p className="second">None. The agent only reads and writes text.</p>}
      {allowlist.length > 0 && (
        <ul className="tool-rows">
          {allowlist.map((rule) => (
            <Rule key={rule} rule={rule} tools={tools.data ?? null} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Rule({ rule, tools }: { readonly rule: string; readonly tools: readonly ToolDescriptor[] | null }) {
  const isPattern = rule.endsWith('*');
  const found = (tools ?? []).filter(({ toolId }) =>
    isPattern ? toolId.startsWith(rule.slice(0, -1)) : toolId === rule,
  );
  const [only] = found;
  return (
    <li>
      <code>{rule}</code>
      {!isPattern && only !== undefined && <span className="badge">{only.safetyTier}</span>}
      <span className="second">{words(rule, { tools, found, isPattern })}</span>
    </li>
  );
}

/** Tools that are part of the loop of an agent, and so in no list of tools. */
const ofEveryAgent: Readonly<Record<string, string>> = {
  'openwop:decide': 'States a decision, and how sure the agent is of it.',
  'openwop:handoff': 'Hands the task to another agent.',
};

interface RuleFacts {
  readonly tools: readonly ToolDescriptor[] | null;
  readonly found: readonly ToolDescriptor[];
  readonly isPattern: boolean;
}

function words(rule: string, { tools, found, isPattern }: RuleFacts): string {
  if (tools === null) return ' ';
  if (rule.startsWith('client:')) return 'Executed by the page that sends the message.';
  const own = ofEveryAgent[rule];
  if (own !== undefined) return own;
  if (isPattern) return found.length === 0 ? 'This host has none of them.' : `${found.length} tools of this host`;
  return found[0] === undefined
    ? 'Not offered to your runs: by this host, or by the scopes of your key.'
    : (found[0].description ?? '');
}
