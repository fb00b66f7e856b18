/** The run that the address names. */
import { getRouteApi } from '@tanstack/react-router';
import { RunScreen } from './run-screen.tsx';
import type { RunSearch } from './run-search.ts';

const route = getRouteApi('/shell/runs/$runId');

export function RunPage() {
  const { runId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  // Moving through events would fill the history of the browser.
  const go = (next: RunSearch): void => void navigate({ search: next, replace: true });
  return <RunScreen key={runId} runId={runId} search={search} go={go} />;
}
