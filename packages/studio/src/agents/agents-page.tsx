/** The agents of the host; the one that the address names is open. */
import { getRouteApi } from '@tanstack/react-router';
import { AgentsScreen } from './agents-screen.tsx';

const route = getRouteApi('/shell/agents/$agentId');

export const AgentsPage = () => <AgentsScreen agentId={null} />;

export function AgentPage() {
  const { agentId } = route.useParams();
  return <AgentsScreen agentId={agentId} />;
}
